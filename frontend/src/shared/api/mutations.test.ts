/** The error of a form's last request, and the form chosen otherwise since. */
import { describe, expect, it } from "vitest";

import { errorFor } from "./mutations";

describe("the error of a request", () => {
  const error = new Error("no such model");
  const variables = { type: "activate", pool: 1, revision: 7 };

  it("is shown while the form asks for the same", () => {
    expect(errorFor({ error, variables }, { revision: 7, pool: 1, type: "activate" })).toBe(error);
  });

  it("is dropped once another revision is chosen", () => {
    expect(errorFor({ error, variables }, { ...variables, revision: 8 })).toBeNull();
  });

  it("is dropped once nothing would be asked for", () => {
    expect(errorFor({ error, variables }, null)).toBeNull();
  });
});
