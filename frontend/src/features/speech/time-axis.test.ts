import { expect, it } from "vitest";

import type { ThoughtOut } from "@/generated/api";

import { clock, marksOf, readSteps, sameWords, stepAt, thoughtAt, thoughtOfWord, wavePath, zoomBy } from "./time-axis";

const STEPS = [
  { index: 0, begin: 3, end: 3.1, thought: "", element: "" },
  { index: 1, begin: 9, end: 9.1, thought: "", element: "" },
];
const thought = (begin: number, first_word: number, last_word: number) => ({ begin, first_word, last_word }) as ThoughtOut;

it("finds the step that is about to be done", () => {
  expect([0, 3.05, 3.2, 99].map((seconds) => stepAt(STEPS, seconds))).toEqual([0, 0, 1, 1]);
  expect(stepAt([], 3)).toBe(0);
});

it("finds the thought that is said, or was said last", () => {
  const thoughts = [thought(1, 0, 2), thought(5, 3, 4)];
  expect([0, 1, 4, 5, 9].map((seconds) => thoughtAt(thoughts, seconds))).toEqual([null, 0, 0, 1, 1]);
  expect([0, 3, 4].map((word) => thoughtOfWord({ thoughts }, word))).toEqual([0, 1, 1]);
});

it("writes times and marks", () => {
  expect([0, 62.46, 3_600].map(clock)).toEqual(["0:00.0", "1:02.5", "60:00.0"]);
  expect(marksOf(24, 1)).toEqual([0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24]);
  expect(marksOf(24, 64)).toHaveLength(49);
  expect([zoomBy(1, 0.5), zoomBy(1, 2), zoomBy(64, 2)]).toEqual([1, 2, 64]);
});

it("draws silence as a line and full scale as the whole height", () => {
  expect(wavePath([{ begin: 1, rate: 20, values: btoa("\x00\xff") }])).toBe(
    "M1 1L1.05 1L1.05 0L1.1 0L1.1 2L1.05 2L1.05 1L1 1Z",
  );
  expect(wavePath([{ begin: 1, rate: 20, values: "" }])).toBe("");
});

it("reads the steps that a person names", () => {
  expect(readSteps("2, 3", 3)).toEqual([1, 2]);
  expect(readSteps(" ", 3)).toEqual([]);
  for (const text of ["4", "0", "x", "1-2"]) expect(readSteps(text, 3)).toBeNull();
});

it("finds a word again, whatever its case and punctuation", () => {
  const words = ["Miller", "the", "miller,", ""].map((text) => ({ begin: 0, end: 0, text }));
  expect(sameWords(words, 0)).toEqual([0, 2]);
  expect(sameWords(words, 3)).toEqual([3]);
});
