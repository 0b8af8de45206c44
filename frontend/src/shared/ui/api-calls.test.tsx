/** API calls of a page run as shown: quoted for a shell, and as Python literals. */
import { describe, expect, expectTypeOf, it } from "vitest";

import { apiCall, curlOf, ID, pythonOf } from "./api-calls";

const CALL = { method: "POST", path: "/evaluations", body: { run: "it's", keep: true, seed: null, tags: ["a"] } } as const;

describe("the calls of a page", () => {
  it("quotes for a shell", () => {
    expect(curlOf(CALL)).toContain(`--json '{"run":"it'\\''s","keep":true,"seed":null,"tags":["a"]}'`);
    expect(curlOf(CALL)).toContain('"Authorization: Bearer $PILOTHOUSE_TOKEN" -X POST');
    expect(curlOf({ method: "GET", path: "/evaluations" })).toMatch(/ 'http[^']*\/api\/evaluations'$/);
  });

  it("writes Python literals", () => {
    expect(pythonOf(CALL)).toContain(`client.call("POST", "/evaluations", {"run": "it's", "keep": True, "seed": None, "tags": ["a"]})`);
  });

  it("are refused by the type checker where the API does not have them", () => {
    expect(apiCall("api_calls.title", "POST", `/wheels/${ID}/turns`)).toMatchObject({ method: "POST", path: "/wheels/ID/turns" });
    // @ts-expect-error -- no such route
    expectTypeOf(() => apiCall("api_calls.title", "GET", `/wheels/${ID}/tasks`)).toBeFunction();
    // @ts-expect-error -- no such method of this route
    expectTypeOf(() => apiCall("api_calls.title", "PATCH", "/fleet")).toBeFunction();
    // @ts-expect-error -- a body without what it must have
    expectTypeOf(() => apiCall("api_calls.title", "POST", "/judges", {})).toBeFunction();
    // @ts-expect-error -- a field that the body does not have
    expectTypeOf(() => apiCall("api_calls.title", "POST", "/exports", { filters: { colour: "red" } })).toBeFunction();
  });
});
