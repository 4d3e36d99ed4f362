/**
 * The scripted model's side of Anthropic's Messages API.
 *
 * @module
 */
import {
  type Api,
  CALL_PREFIX,
  eventStream,
  plainText,
  type Turn,
} from "./api.ts";

/** `POST /v1/messages`, streamed or not. */
export const anthropic: Api = {
  serves: (path) => path.endsWith("/v1/messages"),
  read: (body) => ({
    // deno-lint-ignore no-explicit-any
    tools: (body.tools ?? []).map((tool: any) => ({ name: tool.name })),
    // deno-lint-ignore no-explicit-any
    results: body.messages.flatMap(({ content }: any) =>
      Array.isArray(content)
        ? content.filter((part) =>
          part.type === "tool_result" &&
          part.tool_use_id.startsWith(CALL_PREFIX)
        ).map((part) => plainText(part.content))
        : []
    ),
  }),
  write(turn, body) {
    const message = {
      id: `msg_${crypto.randomUUID()}`,
      type: "message",
      role: "assistant",
      model: body.model,
      "stop_sequence": null,
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    const { block, reason } = blockOf(turn);
    if (!body.stream) {
      return Response.json({
        ...message,
        content: [block],
        stop_reason: reason,
      });
    }
    const started = block.type === "text"
      ? { ...block, text: "" }
      : { ...block, input: {} };
    const delta = block.type === "text"
      ? { type: "text_delta", text: block.text }
      : { type: "input_json_delta", partial_json: JSON.stringify(block.input) };
    const events = [
      {
        type: "message_start",
        message: { ...message, content: [], stop_reason: null },
      },
      { type: "content_block_start", index: 0, content_block: started },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      {
        type: "message_delta",
        delta: { stop_reason: reason, "stop_sequence": null },
        usage: { output_tokens: 1 },
      },
      { type: "message_stop" },
    ];
    return eventStream(events.map((data) => ({ name: data.type, data })));
  },
};

function blockOf(turn: Turn) {
  return "say" in turn
    ? {
      block: { type: "text" as const, text: turn.say },
      reason: "end_turn",
    }
    : {
      block: {
        type: "tool_use" as const,
        id: turn.id,
        name: turn.tool.name,
        input: turn.args,
      },
      reason: "tool_use",
    };
}
