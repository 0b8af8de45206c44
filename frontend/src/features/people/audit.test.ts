import { expect, test } from "vitest";

import { detailsInWords, shortened } from "./audit";

test("details are names and values, without what is empty", () => {
  expect(detailsInWords('{"index": 2, "comment": "", "verdict": "right", "groups": []}')).toBe("index: 2, verdict: right");
  expect(detailsInWords("{}")).toBe("");
  expect(detailsInWords('{"index": 0, "on": false}')).toBe("index: 0, on: false");
});

test("what is no object is told as it stands", () => {
  expect(detailsInWords("cut off {")).toBe("cut off {");
  expect(detailsInWords("[1]")).toBe("[1]");
});

test("long numbers are cut", () => {
  expect(shortened("episode:91d28891-e232-4f64-b1e0-bfcaab2cecc9")).toBe("episode 91d28891");
  expect(shortened("pool:12")).toBe("pool 12");
});
