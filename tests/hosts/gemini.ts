/**
 * The scripted model's side of Gemini's API.
 *
 * @module
 */
import { type Api, eventStream } from "./api.ts";

/** `POST /v1beta/models/NAME:generateContent`, streamed or not. */
export const gemini: Api = {
  serves: (path) => /:(streamG|g)enerateContent$/.test(path),
  read: (body) => ({
    // deno-lint-ignore no-explicit-any
    tools: (body.tools ?? []).flatMap((group: any) =>
      // deno-lint-ignore no-explicit-any
      (group.functionDeclarations ?? []).map((tool: any) => ({
        name: tool.name,
      }))
    ),
    // deno-lint-ignore no-explicit-any
    results: (body.contents ?? []).flatMap(({ parts }: any) =>
      // deno-lint-ignore no-explicit-any
      (parts ?? []).filter((part: any) => part.functionResponse)
        // deno-lint-ignore no-explicit-any
        .map((part: any) => {
          const { response } = part.functionResponse;
          const text = response?.output ?? response?.error;
          return typeof text === "string" ? text : JSON.stringify(response);
        })
    ),
  }),
  write(turn, _body, path) {
    const part = "say" in turn
      ? { text: turn.say }
      : { functionCall: { name: turn.tool.name, args: turn.args } };
    const answer = {
      candidates: [{
        index: 0,
        content: { role: "model", parts: [part] },
        finishReason: "STOP",
      }],
      usageMetadata: {
        promptTokenCount: 1,
        candidatesTokenCount: 1,
        totalTokenCount: 2,
      },
      modelVersion: "scripted",
    };
    return path.includes(":stream")
      ? eventStream([{ data: answer }])
      : Response.json(answer);
  },
};
