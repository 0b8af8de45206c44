/** API calls of a page run as shown: quoted for a shell, and as Python literals. */
import { describe, expect, it } from "vitest";

import { curlOf, pythonOf } from "./api-calls";

const CALL = { title: "Register", method: "POST", path: "/evaluations", body: { run: "it's", keep: true, seed: null, tags: ["a"] } } as const;

describe("the calls of a page", () => {
  it("quotes for a shell", () => {
    expect(curlOf(CALL)).toContain(`--json '{"run":"it'\\''s","keep":true,"seed":null,"tags":["a"]}'`);
    expect(curlOf(CALL)).toContain('"Authorization: Bearer $PILOTHOUSE_TOKEN" -X POST');
    expect(curlOf({ title: "List", method: "GET", path: "/evaluations" })).toMatch(/ 'http[^']*\/api\/evaluations'$/);
  });

  it("writes Python literals", () => {
    expect(pythonOf(CALL)).toContain(`client.call("POST", "/evaluations", {"run": "it's", "keep": True, "seed": None, "tags": ["a"]})`);
  });
});
