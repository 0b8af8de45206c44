/** Steps and moments of a video in two parts. */
import { describe, expect, it } from "vitest";

import type { RecordingPart } from "@/generated/api";

import { isActing, positionOf, stepAt } from "./recording";

const part = (number: number, steps: [number, number, number][]): RecordingPart => ({
  number,
  sha256: "0".repeat(64),
  started_at: "2026-01-01T00:00:00Z",
  seconds: 30,
  steps: steps.map(([index, begins, ends]) => ({ index, begins, ends })),
});

const PARTS = [part(0, [[0, 2, 3], [1, 8, 8.1]]), part(1, []), part(2, [[3, 1, 4]])];

describe("placeOf", () => {
  it("finds where a step begins and ends", () => {
    expect(positionOf(PARTS, 1, false)).toEqual({ part: 0, at: 8 });
    expect(positionOf(PARTS, 3, true)).toEqual({ part: 2, at: 4 });
  });

  it("knows that the video does not show a step", () => {
    expect(positionOf(PARTS, 2, false)).toBeNull();
    expect(positionOf([], 0, false)).toBeNull();
  });
});

describe("stepAt", () => {
  it("is the step that began last", () => {
    expect(stepAt(PARTS, { part: 0, at: 1 })).toBeNull();
    expect(stepAt(PARTS, { part: 0, at: 2 })).toBe(0);
    expect(stepAt(PARTS, { part: 0, at: 7.9 })).toBe(0);
    expect(stepAt(PARTS, { part: 0, at: 20 })).toBe(1);
  });

  it("goes on from the part before", () => {
    expect(stepAt(PARTS, { part: 1, at: 0 })).toBe(1);
    expect(stepAt(PARTS, { part: 2, at: 0.5 })).toBe(1);
    expect(stepAt(PARTS, { part: 2, at: 1 })).toBe(3);
  });

  it("agrees with where the step was said to be", () => {
    for (const step of [0, 1, 3]) {
      const place = positionOf(PARTS, step, false);
      expect(place && stepAt(PARTS, place)).toBe(step);
    }
  });
});

describe("isActing", () => {
  it("lasts as long as the act, and long enough to be seen", () => {
    expect(isActing(PARTS, { part: 0, at: 2.5 }, 0)).toBe(true);
    expect(isActing(PARTS, { part: 0, at: 3.5 }, 0)).toBe(false);
    expect(isActing(PARTS, { part: 0, at: 8.5 }, 1)).toBe(true);
    expect(isActing(PARTS, { part: 0, at: 9 }, 1)).toBe(false);
    expect(isActing(PARTS, { part: 2, at: 8.5 }, 1)).toBe(false);
  });
});
