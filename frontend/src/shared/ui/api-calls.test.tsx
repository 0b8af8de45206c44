/** The calls that a page shows can be given as they are: quoted for a shell, and in Python's words. */
import { describe, expect, it } from "vitest";

import { curlOf, pythonOf } from "./api-calls";

const CALL = { title: "Register", method: "POST", path: "/evaluations", body: { run: "it's", keep: true, seed: null, tags: ["a"] } } as const;

describe("the calls of a page", () => {
  it("quotes what a shell would read", () => {
    expect(curlOf(CALL)).toContain(`--json '{"run":"it'\\''s","keep":true,"seed":null,"tags":["a"]}'`);
    expect(curlOf(CALL)).toContain('"Authorization: Bearer $PILOTHOUSE_TOKEN" -X POST');
    expect(curlOf({ title: "List", method: "GET", path: "/evaluations" })).toMatch(/ 'http[^']*\/api\/evaluations'$/);
  });

  it("writes Python's own words", () => {
    expect(pythonOf(CALL)).toContain(`client.call("POST", "/evaluations", {"run": "it's", "keep": True, "seed": None, "tags": ["a"]})`);
  });
});
