import { expect, test } from "vitest";

import { noticePath } from "./bell";

test("a notice leads to what it is about", () => {
  expect(noticePath("episode:5f1005e1")).toBe("/episodes/5f1005e1");
  expect(noticePath("episode:5f1005e1", "review.rejected")).toBe("/episodes/5f1005e1");
  expect(noticePath("episode:5f1005e1", "help.requested")).toBe("/desk/5f1005e1");
  expect(noticePath("export:1")).toBe("/exports");
  expect(noticePath("webhook:1")).toBe("/webhooks");
  expect(noticePath("something else")).toBe("/");
});
