/** Forms follow a tool's schema, and give back what it asks for. */
import { describe, expect, it } from "vitest";

import { argumentsFrom, fieldsOf } from "./schema";

const TOOL = {
  name: "notes.add",
  description: "",
  parameters: {
    type: "object",
    properties: {
      text: { type: "string", description: "What to note" },
      times: { type: "integer", default: 2 },
      share: { type: "number" },
      loud: { type: "boolean" },
      colour: { enum: ["red", "blue", 3] },
      tags: { type: "array" },
    },
    required: ["text", "colour"],
  },
};
const FIELDS = fieldsOf(TOOL) ?? [];

describe("a form", () => {
  it("has a field for each argument", () => {
    expect(FIELDS.map(({ name, kind, required }) => [name, kind, required])).toEqual([
      ["text", "text", true],
      ["times", "integer", false],
      ["share", "number", false],
      ["loud", "boolean", false],
      ["colour", "choice", true],
      ["tags", "json", false],
    ]);
    expect(FIELDS[1]?.initial).toBe("2");
    expect(FIELDS[4]?.choices).toEqual(['"red"', '"blue"', "3"]);
  });

  it("has none where a tool takes nothing, and cannot be had for what is no object", () => {
    expect(fieldsOf({ name: "a", description: "", parameters: {} })).toEqual([]);
    expect(fieldsOf({ name: "a", description: "", parameters: { type: "array" } })).toBeNull();
  });
});

describe("what was written", () => {
  it("becomes values of the types asked for; what was left empty is left out", () => {
    expect(argumentsFrom(FIELDS, { text: "12", share: "0.5", loud: "true", colour: "3", tags: '["a"]' })).toEqual({
      ok: true,
      values: { text: "12", times: 2, share: 0.5, loud: true, colour: 3, tags: ["a"] },
    });
    expect(argumentsFrom(FIELDS, { text: "x", colour: '"red"', times: "" })).toMatchObject({ ok: true, values: { text: "x", colour: "red" } });
  });

  it("is refused field by field", () => {
    expect(argumentsFrom(FIELDS, { times: "1.5", tags: "[", colour: "3" })).toEqual({
      ok: false,
      faults: [
        { name: "text", reason: "missing" },
        { name: "times", reason: "wrong" },
        { name: "tags", reason: "wrong" },
      ],
    });
  });
});
