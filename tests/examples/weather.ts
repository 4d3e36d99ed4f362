import { command, mcpCommand, run, systemFrom } from "../../lib/library.ts";

const about = { name: "weather", version: "1.0.0" };
const forecast = command({
  name: "forecast",
  summary: "Tell the weather",
  input: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
  },
  output: {
    type: "object",
    properties: { city: { type: "string" }, degrees: { type: "number" } },
    required: ["city", "degrees"],
    additionalProperties: false,
  },
  positionals: ["city"],
  tool: { name: "forecast" },
  run({ city }, ctx) {
    if (city === "nowhere") return { content: "no such city", isError: true };
    ctx.warn("it may rain");
    return {
      content: `${city}: mild`,
      structured: { city, degrees: city === "wrong" ? "mild" : 17.5 },
    };
  },
});
const commands = [forecast, mcpCommand(about)];
const root = { name: about.name, summary: "The weather", commands };
Deno.exit(await run(root, Deno.args, systemFrom(Deno)));
