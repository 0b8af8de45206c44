import { expect, test } from "vitest";

import type { FixOut, RemarkOut, RoundOut } from "@/generated/api";

import { faultySteps, stepMarks } from "./step-marks";

const remark = (index: number, verdict: RemarkOut["verdict"], round = 1, comment = ""): RemarkOut => ({
  index, round, reviewer: "Rosa", mine: false, verdict, comment,
});
const fix = (index: number) => ({ index, revision: 1 }) as FixOut;
const returned = (number: number) => ({ number, decision: "return" }) as RoundOut;

test("a step has its last verdict, its correction, and whether it was cut away", () => {
  const said = {
    remarks: [remark(1, "right", 2), remark(1, "wrong_element", 1)],
    fixes: [fix(2)],
    segments: [{ first: 1, last: 2, instruction: "" }],
  };
  expect([...stepMarks(said, 4)]).toEqual([
    [0, { verdict: null, corrected: false, cut: true }],
    [1, { verdict: "right", corrected: false, cut: false }],
    [2, { verdict: null, corrected: true, cut: false }],
    [3, { verdict: null, corrected: false, cut: true }],
  ]);
});

test("without cuts every step counts", () => {
  expect(stepMarks({ remarks: [], fixes: [], segments: [] }, 3).size).toBe(0);
});

test("sent-back work begins at the first step that its last round found wrong", () => {
  const remarks = [remark(0, "right", 1, "good"), remark(5, "redundant"), remark(3, "wrong_action"), remark(1, "wrong_action", 0)];
  expect(faultySteps({ remarks, rounds: [returned(1)] })).toEqual([3, 5]);
});

test("where no step is wrong, it begins at the first one with a comment", () => {
  expect(faultySteps({ remarks: [remark(0, "right"), remark(2, null, 1, "why?")], rounds: [returned(1)] })).toEqual([2]);
  expect(faultySteps({ remarks: [remark(2, "wrong_action", 2)], rounds: [returned(1)] })).toEqual([]);
});
