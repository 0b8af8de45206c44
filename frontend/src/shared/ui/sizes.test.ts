import { expect, test } from "vitest";

import { keepOffered, offeredSizes, sizeOf } from "./sizes";

const TASKS = [
  { name: "rows", sizes: ["800x600", "320x240", "640x480"] },
  { name: "tabs", sizes: ["640x480", "800x600"] },
  { name: "dial", sizes: ["320x240"] },
  { name: "fixed", sizes: [] },
];

test("only sizes that every chosen task is offered in can be wanted", () => {
  expect(offeredSizes(TASKS, ["rows", "tabs"])).toEqual(["640x480", "800x600"]);
  expect(offeredSizes(TASKS, ["tabs", "dial"])).toEqual([]);
  expect(offeredSizes(TASKS, ["rows", "fixed"])).toEqual([]);
  expect(offeredSizes(TASKS, ["rows", "unknown"])).toEqual([]);
  expect(offeredSizes(TASKS, [])).toEqual(["320x240", "640x480", "800x600"]);
});

test("a size is given up where a further task is not offered in it", () => {
  expect(keepOffered("320x240", TASKS, ["rows"])).toBe("320x240");
  expect(keepOffered("320x240", TASKS, ["rows", "tabs"])).toBe("");
  expect([sizeOf("640x480"), sizeOf("")]).toEqual([[640, 480], null]);
});
