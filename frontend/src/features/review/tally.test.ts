import { expect, test } from "vitest";

import type { SharedTask } from "@/generated/api";

import { isSuccessful, countTally } from "./tally";

type End = Parameters<typeof isSuccessful>[0];

const ended = (outcome: End["outcome"], success?: boolean): End => ({
  outcome,
  verdict: success === undefined ? null : ({ success } as End["verdict"]),
});
const sharedTask = (one: End, other: End) => ({ one: { episode: one }, other: { episode: other } }) as unknown as SharedTask;

test("the verifier's word stands over the annotator's", () => {
  expect(isSuccessful(ended("success", false))).toBe(false);
  expect(isSuccessful(ended("failure"))).toBe(false);
  expect(isSuccessful(ended("infeasible"))).toBeNull();
});

test("tasks are told apart by who did them", () => {
  const [done, failed, open] = [ended("success"), ended("failure"), ended("infeasible")];
  const tally = countTally([sharedTask(done, done), sharedTask(done, failed), sharedTask(failed, done), sharedTask(failed, done), sharedTask(failed, failed), sharedTask(done, open)]);
  expect(tally).toEqual({ both: 1, left_only: 1, right_only: 2, neither: 1, unknown: 1 });
});
