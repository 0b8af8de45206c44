/** Results of stages: every count is described in both languages, and none shows its stored name. */
import { describe, expect, it } from "vitest";

import type { StageOut } from "@/generated/api";
import { i18nFor } from "@/shared/i18n/i18n";

import { stageFacts, stageProblem } from "./stage-result";

const EXPECTED: readonly (readonly [StageOut["name"], StageOut["result"], string])[] = [
  ["collect", { samples: 1 }, "1 trajectory taken in"],
  ["check", { executable: 3, not_executable: 1, duplicates: 2, unchecked: "" }, "3 can be replayed · 1 cannot · 2 duplicates"],
  ["check", { executable: 2, not_executable: 0, duplicates: 0, unchecked: "no_bridge" }, "2 can be replayed · 0 cannot · 0 duplicates · not all were tried: no_bridge"],
  ["value", { by: { outcome: 2, verifier: 64 } }, "verifier 64 · annotator 2"],
  ["route", { routes: { ct: 36, sft: 28 }, playing: ["toy/lights"] }, "SFT 28 · CT 36 · worth playing: toy/lights"],
  ["mix", { sft: { fresh: 28, earlier: 0, sources: ["fresh", "general/manuals"] } }, "Imitation: 28 samples of this cycle, 0 of earlier cycles; from fresh, general/manuals"],
  ["mix", { pref: { phase: "pref", domain: "", fresh: 3, earlier: 1, own: 0, choices: 7, sources: ["earlier", "fresh"] } }, "Preferences: 7 preferences; samples: 3 of this cycle, 1 of earlier cycles"],
  ["train", { phases: ["rl", "sft"], checkpoint: "/x" }, "Imitation · Reinforcement"],
  [
    "train",
    { phases: ["rl"], checkpoint: "/x", refused: { attempt_stale: 2, sample_too_long: 1 } },
    "Reinforcement · 2 attempts too old for training · 1 attempt not used in training: sample_too_long",
  ],
  ["train", { phases: [], checkpoint: "" }, "Nothing was trained"],
  ["gate", { candidate: "a-1", attempts: 40, successes: 22, active_attempts: 40, active_successes: 11, finding: "better" }, "22 of 40 succeeded · 11 of 40 before · better"],
  ["gate", { candidate: "a-1", attempts: 40, successes: 22 }, "22 of 40 succeeded"],
  ["gate", { candidate: "" }, "Nothing was trained"],
  ["register", { revision: 2, judged: true, passed: false, reasons: [] }, "not passed"],
  ["register", { revision: 2, judged: false, passed: false, reasons: [] }, "not judged"],
  ["refresh", { active: "toy a-1", reloaded: true }, "toy a-1 proposes now · its server has the weights"],
  ["refresh", { active: "", reloaded: false }, "nothing changed"],
];

describe("what came of a stage", () => {
  it.each(EXPECTED)("%s %j", (name, result, expected) => {
    expect(stageFacts(name, result, i18nFor("en")).join(" · ")).toBe(expected);
    const chinese = stageFacts(name, result, i18nFor("zh")).join("");
    expect(chinese).toMatch(/[\u4e00-\u9fff]/);
    expect(chinese).not.toContain("{");
  });

  it("says nothing of a stage that has only begun", () => {
    const names = ["collect", "check", "value", "route", "mix", "train", "gate", "register", "refresh"] as const;
    expect(names.flatMap((name) => stageFacts(name, {}, i18nFor("en")))).toEqual([]);
  });
});

describe("what a stage ended with", () => {
  const problemIn = (state: StageOut["state"], code: string, language: "en" | "zh") => stageProblem({ state, code, error: "KeyError: 'x'" }, i18nFor(language));

  it("is a stable code and the error, in both languages", () => {
    for (const language of ["en", "zh"] as const) expect(problemIn("failed", "program_failed", language)).toBe("program_failed: KeyError: 'x'");
  });

  it("says which worker can run a cycle that this one cannot train", () => {
    expect(problemIn("failed", "trainer_missing", "en")).toMatch(/^trainer_missing: .*docs\/guides\/operator\/deploy\.md/);
    expect(problemIn("failed", "trainer_missing", "zh")).toMatch(/^trainer_missing: .*训练器.*继续本轮/);
  });

  it.each(["judge_failed", "nobody_serves", "serving_away", "serving_refused", "serving_taken", "serving_in_use", "too_long", "weights_missing"])("says what to do about %s, and what was said", (code) => {
    const [english, chinese] = [problemIn("failed", code, "en"), problemIn("failed", code, "zh")];
    for (const one of [english, chinese]) expect(one).toMatch(new RegExp(`^${code}: .+KeyError: 'x'$`));
    expect(english).toMatch(/server|worker|judge/);
    expect(chinese).toMatch(/服务器|工作进程|评判/);
  });

  it("says of an error nobody foresaw whether it is tried again, and how it goes on", () => {
    expect(problemIn("begun", "unforeseen", "en")).toMatch(/^unforeseen: KeyError: 'x'\. .* tried again within a minute/);
    expect(problemIn("failed", "unforeseen", "en")).toMatch(/^unforeseen: KeyError: 'x'\. .* resume the cycle/);
    expect(problemIn("begun", "unforeseen", "zh")).toMatch(/^unforeseen: KeyError: 'x'。.*一分钟内会再试/);
    expect(problemIn("failed", "unforeseen", "zh")).toMatch(/^unforeseen: KeyError: 'x'。.*修复后可继续/);
  });
});
