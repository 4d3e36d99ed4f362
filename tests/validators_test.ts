/** The validators of other libraries that README names, as input schemas. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { type } from "arktype";
import { toStandardJsonSchema } from "valibot/json-schema";
import * as v from "valibot";
import { z } from "zod";
import { type AnyCommand, command } from "../lib/command.ts";
import { asFunction, overMcp, program, shell, textOf } from "./three_ways.ts";

/** A city and a number of days from 1 to 9, by default 3; each library types `args` by itself. */
const COMMANDS: Record<string, AnyCommand> = {
  zod: command({
    name: "forecast",
    summary: "Tell the weather",
    input: z.object({
      city: z.string().min(2),
      days: z.int().min(1).max(9).default(3),
    }),
    positionals: ["city"],
    tool: { name: "forecast" },
    run: ({ city, days }) => `${city.toUpperCase()} ${days.toFixed(1)}`,
  }) as AnyCommand,
  valibot: command({
    name: "forecast",
    summary: "Tell the weather",
    input: toStandardJsonSchema(v.object({
      city: v.pipe(v.string(), v.minLength(2)),
      days: v.optional(
        v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(9)),
        3,
      ),
    })),
    positionals: ["city"],
    tool: { name: "forecast" },
    run: ({ city, days }) => `${city.toUpperCase()} ${days.toFixed(1)}`,
  }) as AnyCommand,
  arktype: command({
    name: "forecast",
    summary: "Tell the weather",
    input: type({ city: "string >= 2", days: "1 <= number.integer <= 9 = 3" }),
    positionals: ["city"],
    tool: { name: "forecast" },
    run: ({ city, days }) => `${city.toUpperCase()} ${days.toFixed(1)}`,
  }) as AnyCommand,
};

for (const [library, forecast] of Object.entries(COMMANDS)) {
  Deno.test(`a validator of ${library} is schema, check and type, from a shell, over MCP and from a program`, async () => {
    const root = program([forecast]);
    const { properties, required } = forecast.input!;
    assertEquals(Object.keys(properties!).toSorted(), ["city", "days"]);
    assertEquals(required, ["city"]);
    assertEquals(await shell(root, ["forecast", "Rome", "--days", "2"]), {
      code: 0,
      out: "ROME 2.0\n",
      err: "",
    });
    assertEquals((await shell(root, ["forecast", "Rome"])).out, "ROME 3.0\n");
    const over = async (args: unknown) =>
      textOf(await overMcp(root, "forecast", args));
    assertEquals(await over({ city: "Rome", days: 2 }), "ROME 2.0");
    assertEquals(await over({ _: "Rome" }), "ROME 3.0");
    assertEquals(await asFunction(forecast, { city: "Rome" }), "ROME 3.0");
    for (
      const [args, field] of [
        [{ city: "R" }, "city"],
        [{ city: "Rome", days: 10 }, "days"],
        [{ city: "Rome", days: "2" }, "days"],
        [{}, "city"],
      ] as const
    ) {
      assertStringIncludes(await over(args), `forecast: ${field}`);
      assertStringIncludes(await asFunction(forecast, args), field);
    }
    const { code, err } = await shell(root, ["forecast", "Rome", "--days=x"]);
    assertEquals(code, 2);
    assertStringIncludes(err, "--days: must be");
  });
}
