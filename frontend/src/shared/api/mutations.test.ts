/** The error of a form's last request, before and after the form changed. */
import { describe, expect, it } from "vitest";

import { errorFor } from "./mutations";

describe("the error of a request", () => {
  const error = new Error("no such model");
  const variables = { type: "activate", pool: 1, revision: 7 };

  it("is shown while the form is unchanged", () => {
    expect(errorFor({ error, variables }, { revision: 7, pool: 1, type: "activate" })).toBe(error);
  });

  it("is dropped once another revision is chosen", () => {
    expect(errorFor({ error, variables }, { ...variables, revision: 8 })).toBeNull();
  });

  it("is dropped once the form describes no request", () => {
    expect(errorFor({ error, variables }, null)).toBeNull();
  });
});
