/** Points of curves: two trainings in one chart, and figures by cycle. */
import { describe, expect, it } from "vitest";

import type { Curve, TurnRow } from "@/generated/api";

import { curvePoints, figuresByCycle } from "./figures";

const curve = (updates: number[], reward: (number | null)[]): Curve => ({ phase: "rl", domain: "", updates, figures: { reward } });
const cycle = (number: number, result: unknown) => ({ number, stages: [{ name: "train", result }] }) as unknown as TurnRow;

describe("the points of a figure", () => {
  it("join trainings by update, with a gap where one has none", () => {
    expect(curvePoints("reward", { a: curve([1, 3], [0.1, 0.3]), b: curve([2, 3], [null, 0.5]) })).toEqual([
      { update: 1, a: 0.1 },
      { update: 2, b: null },
      { update: 3, a: 0.3, b: 0.5 },
    ]);
    expect(curvePoints("entropy", { a: curve([1], [0.1]) })).toEqual([{ update: 1, a: null }]);
  });
});

describe("figures by cycle", () => {
  it("begin with the oldest cycle and skip cycles of before that noted none", () => {
    const found = figuresByCycle([cycle(3, { figures: { sft: { loss: 0.2 } } }), cycle(2, {}), cycle(1, { figures: { sft: { loss: 0.4 }, rl: { reward: 1 } } })]);
    expect(found.get("sft/loss")).toEqual([
      { cycle: 1, value: 0.4 },
      { cycle: 3, value: 0.2 },
    ]);
    expect(found.get("rl/reward")).toEqual([{ cycle: 1, value: 1 }]);
  });
});
