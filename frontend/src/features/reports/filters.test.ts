/** A report's address: what it says is read back, what makes no sense is as usual, a chosen row narrows. */
import { describe, expect, it } from "vitest";

import { everyDay, fromSearch, narrowTo, periodOf, toApiQuery, toSearch } from "./filters";

const TODAY = new Date(2026, 2, 1);
const read = (text: string) => fromSearch(new URLSearchParams(text), TODAY);

describe("the address of a report", () => {
  it("is of the last thirty days by pool where it says nothing", () => {
    expect(read("")).toMatchObject({ since: "2026-01-31", until: "2026-03-01", by: "pool", pool: null });
    expect(toSearch(read(""), TODAY).toString()).toBe("");
  });

  it("says only what is not as usual, and is read back", () => {
    const text = "since=2026-02-01&until=2026-02-03&by=annotator&pool=7&policy=nano+r1";
    expect(toSearch(read(text), TODAY).toString()).toBe(text);
  });

  it.each(["since=yesterday&until=2026-02-03", "since=2026-02-03&until=2026-02-01", "since=2026-02-03"])(
    "takes the usual days for %s",
    (text) => expect(read(text)).toMatchObject(periodOf(30, TODAY)),
  );

  it("takes no pool for a word and no split for an unknown one", () => {
    expect(read("pool=seven&by=colour")).toMatchObject({ pool: null, by: "pool" });
  });

  it("keeps application and difficulty, those of unplaced tasks too, and no level there is not", () => {
    const text = "by=level&application=&level=3";
    expect(toSearch(read(text), TODAY).toString()).toBe(text);
    expect(read("level=").level).toBe("");
    expect(read("level=9").level).toBeNull();
    expect(read("").level).toBeNull();
  });

  it("asks with the time zone that says where a day begins", () => {
    expect(toApiQuery(read("by=day")).get("zone")).toBe(Intl.DateTimeFormat().resolvedOptions().timeZone);
  });
});

describe("choosing a row", () => {
  it("narrows to it and goes on by day", () => {
    expect(narrowTo(read(""), "7")).toMatchObject({ pool: "7", by: "day" });
    expect(narrowTo(read("by=policy"), "")).toMatchObject({ policy: "", by: "day" });
  });

  it("of a day shows that day by pool", () => {
    expect(narrowTo(read("by=day"), "2026-02-14")).toMatchObject({ since: "2026-02-14", until: "2026-02-14", by: "pool" });
  });
});

it("takes days without work for days too", () => {
  expect(everyDay(["2026-03-01", "2026-02-27"])).toEqual(["2026-02-27", "2026-02-28", "2026-03-01"]);
  expect(everyDay([])).toEqual([]);
});
