import { expect, test } from "vitest";

import { formatDetails, shortenSubject } from "./audit";

test("details are names and values, without what is empty", () => {
  expect(formatDetails('{"index": 2, "comment": "", "verdict": "right", "groups": []}')).toBe("index: 2, verdict: right");
  expect(formatDetails("{}")).toBe("");
  expect(formatDetails('{"index": 0, "on": false}')).toBe("index: 0, on: false");
});

test("what is no object is told as it stands", () => {
  expect(formatDetails("cut off {")).toBe("cut off {");
  expect(formatDetails("[1]")).toBe("[1]");
});

test("long numbers are cut", () => {
  expect(shortenSubject("episode:91d28891-e232-4f64-b1e0-bfcaab2cecc9")).toBe("episode 91d28891");
  expect(shortenSubject("pool:12")).toBe("pool 12");
});
