import { expect, test } from "vitest";

import type { Meeting } from "@/generated/api";

import { standingOf, tallyOf } from "./tally";

type End = Parameters<typeof standingOf>[0];

const said = (outcome: End["outcome"], success?: boolean): End => ({
  outcome,
  verdict: success === undefined ? null : ({ success } as End["verdict"]),
});
const met = (one: End, other: End) => ({ one: { episode: one }, other: { episode: other } }) as unknown as Meeting;

test("the verifier's word stands over the annotator's", () => {
  expect(standingOf(said("success", false))).toBe(false);
  expect(standingOf(said("failure"))).toBe(false);
  expect(standingOf(said("infeasible"))).toBeNull();
});

test("tasks are told apart by who did them", () => {
  const [done, failed, open] = [said("success"), said("failure"), said("infeasible")];
  const tally = tallyOf([met(done, done), met(done, failed), met(failed, done), met(failed, done), met(failed, failed), met(done, open)]);
  expect(tally).toEqual({ both: 1, left_only: 1, right_only: 2, neither: 1, unknown: 1 });
});
