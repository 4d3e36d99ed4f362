/**
 * The scripted model's side of OpenAI's two APIs, Responses and Chat Completions.
 *
 * @module
 */
import {
  type Api,
  CALL_PREFIX,
  eventStream,
  type OfferedTool,
  plainText,
} from "./api.ts";

/** `POST /responses`, streamed. */
export const responses: Api = {
  serves: (path) => path.endsWith("/responses"),
  read: (body) => ({
    tools: [
      ...toolsOf(body.tools),
      // What a search for tools found is among the conversation's items.
      // deno-lint-ignore no-explicit-any
      ...body.input.flatMap((item: any) => toolsOf(item.tools)),
    ],
    results: body.input
      // deno-lint-ignore no-explicit-any
      .filter((item: any) =>
        /^(function|custom_tool)_call_output$/.test(item.type) &&
        item.call_id.startsWith(CALL_PREFIX)
      )
      // deno-lint-ignore no-explicit-any
      .map((item: any) => plainText(item.output)),
  }),
  write(turn, body) {
    const id = `resp_${crypto.randomUUID()}`;
    const item = "say" in turn
      ? {
        type: "message",
        id: `msg_${crypto.randomUUID()}`,
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: turn.say, annotations: [] }],
      }
      : turn.tool.name === TOOL_SEARCH
      ? {
        type: "tool_search_call",
        call_id: turn.id,
        status: "completed",
        execution: "client",
        arguments: turn.args,
      }
      : turn.tool.plain
      ? {
        type: "custom_tool_call",
        id: `ctc_${turn.id}`,
        call_id: turn.id,
        status: "completed",
        ...named(turn.tool),
        input: turn.args.input,
      }
      : {
        type: "function_call",
        id: `fc_${turn.id}`,
        call_id: turn.id,
        status: "completed",
        ...named(turn.tool),
        arguments: JSON.stringify(turn.args),
      };
    const response = {
      id,
      object: "response",
      "created_at": 0,
      model: body.model,
      status: "completed",
      output: [item],
      usage: {
        input_tokens: 1,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 1,
        output_tokens_details: { reasoning_tokens: 0 },
        "total_tokens": 2,
      },
    };
    if (!body.stream) return Response.json(response);
    const events = [
      {
        type: "response.created",
        response: { ...response, status: "in_progress", output: [] },
      },
      { type: "response.output_item.added", output_index: 0, item },
      ...("say" in turn
        ? [{
          type: "response.output_text.delta",
          output_index: 0,
          content_index: 0,
          delta: turn.say,
        }]
        : []),
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response },
    ];
    return eventStream(
      events.map((data, sequence_number) => ({
        name: data.type,
        data: { ...data, sequence_number },
      })),
    );
  },
};

/** The one kind of tool without a name of its own. */
const TOOL_SEARCH = "tool_search";

// deno-lint-ignore no-explicit-any
function toolsOf(list: any[] | undefined, namespace?: string): OfferedTool[] {
  return (list ?? []).flatMap((tool) =>
    tool.type === "namespace" ? toolsOf(tool.tools, tool.name) : [{
      name: tool.name ?? tool.type,
      namespace,
      plain: tool.type === "custom",
    }]
  );
}

function named({ name, namespace }: OfferedTool) {
  return namespace === undefined ? { name } : { name, namespace };
}

/** `POST /chat/completions`, streamed or not. */
export const chatCompletions: Api = {
  serves: (path) => path.endsWith("/chat/completions"),
  read: (body) => ({
    // deno-lint-ignore no-explicit-any
    tools: (body.tools ?? []).map((tool: any) => ({
      name: tool.function?.name ?? "",
    })),
    results: body.messages
      // deno-lint-ignore no-explicit-any
      .filter((message: any) =>
        message.role === "tool" && message.tool_call_id.startsWith(CALL_PREFIX)
      )
      // deno-lint-ignore no-explicit-any
      .map((message: any) => plainText(message.content)),
  }),
  write(turn, body) {
    const common = {
      id: `chatcmpl-${crypto.randomUUID()}`,
      created: 0,
      model: body.model,
    };
    const said = "say" in turn ? { role: "assistant", content: turn.say } : {
      role: "assistant",
      content: null,
      tool_calls: [{
        index: 0,
        id: turn.id,
        type: "function",
        function: {
          name: turn.tool.name,
          arguments: JSON.stringify(turn.args),
        },
      }],
    };
    const reason = "say" in turn ? "stop" : "tool_calls";
    const usage = {
      "prompt_tokens": 1,
      "completion_tokens": 1,
      "total_tokens": 2,
    };
    if (!body.stream) {
      return Response.json({
        ...common,
        object: "chat.completion",
        choices: [{ index: 0, message: said, finish_reason: reason }],
        usage,
      });
    }
    const chunk = (delta: unknown, finish_reason: string | null) => ({
      data: {
        ...common,
        object: "chat.completion.chunk",
        choices: [{ index: 0, delta, finish_reason }],
      },
    });
    return eventStream([
      chunk(said, null),
      chunk({}, reason),
      {
        data: {
          ...common,
          object: "chat.completion.chunk",
          choices: [],
          usage,
        },
      },
      { data: "[DONE]" },
    ]);
  },
};
