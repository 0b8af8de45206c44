import { expect, test } from "vitest";

import { fromSearch, toApiQuery, toSearch } from "./audit-filters";

const read = (address: string) => fromSearch(new URLSearchParams(address));

test("filters survive their address, and what makes no sense is none", () => {
  const address = "words=a+b&actor=ada&verb=task.changed&kind=pool&id=12&since=2026-01-01&until=2026-01-02";
  expect(toSearch(read(address)).toString()).toBe(address);
  expect(toSearch(read("since=yesterday&until=2026-13-40&colour=red")).toString()).toBe("");
});

test("the server is asked for an object, and until the end of the last day", () => {
  expect(toApiQuery(read("kind=pool&id=12")).get("subject")).toBe("pool:12");
  expect(toApiQuery(read("kind=pool")).get("subject")).toBe("pool");
  expect(toApiQuery(read("id=12")).toString()).toBe("");
  const days = toApiQuery(read("since=2026-01-02&until=2026-01-02"));
  expect(days.get("since")).toBe(new Date("2026-01-02T00:00").toISOString());
  expect(days.get("until")).toBe(new Date("2026-01-03T00:00").toISOString());
});
