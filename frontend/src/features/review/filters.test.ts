/** Filters in the address. */
import { describe, expect, it } from "vitest";

import { fromSearch, toSearch } from "./filters";

const read = (text: string) => fromSearch(new URLSearchParams(text));

describe("filters of the review queue", () => {
  it("come back from the address as they were written", () => {
    const filters = { pool: "7", annotator: "ada", outcome: "failure", returned: true, after: "2026~x" } as const;
    expect(fromSearch(toSearch(filters))).toEqual(filters);
    expect(toSearch(read("")).toString()).toBe("");
  });

  it("are none where they make no sense", () => {
    expect(read("pool=x&outcome=skipped&returned=1")).toEqual({ pool: null, annotator: null, outcome: null, returned: false, after: null });
  });
});
