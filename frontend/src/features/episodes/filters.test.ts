/** Filters in the address. */
import { describe, expect, it } from "vitest";

import { fromSearch, toSearch } from "./filters";

const read = (search: string) => fromSearch(new URLSearchParams(search));

describe("filters", () => {
  it("survive the address", () => {
    const search = "status=finished&review=pending&pool=3&annotator=annie&page=2";
    expect(toSearch(read(search)).toString()).toBe(search);
  });

  it("leave an address without filters empty", () => {
    expect(toSearch(read("")).toString()).toBe("");
  });

  it.each(["status=nonsense", "review=x", "pool=a", "page=-1", "page=1.5", "page=x"])("take %s for no filter", (search) => {
    expect(read(search)).toEqual(read(""));
  });
});
