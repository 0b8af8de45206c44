import { expect, test } from "vitest";

import { addressOf, queryOf } from "./query";

test("a query survives its address", () => {
  const query = queryOf(new URLSearchParams("text=报告&decisions=override&decisions=edit&steps_min=3&policy=nano+r1"));
  expect(query).toMatchObject({ text: "报告", decisions: ["override", "edit"], steps_min: 3, policy: "nano r1", outcome: null });
  expect(queryOf(addressOf(query))).toEqual(query);
});

test("an empty query has an empty address", () => {
  expect(addressOf(queryOf(new URLSearchParams())).toString()).toBe("");
});
