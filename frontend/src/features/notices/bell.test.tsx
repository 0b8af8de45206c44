import { expect, test } from "vitest";

import { placeOf } from "./bell";

test("a notice leads to what it is about", () => {
  expect(placeOf("episode:5f1005e1")).toBe("/episodes/5f1005e1");
  expect(placeOf("export:1")).toBe("/exports");
  expect(placeOf("webhook:1")).toBe("/webhooks");
  expect(placeOf("something else")).toBe("/");
});
