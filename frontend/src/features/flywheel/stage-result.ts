/** Describes the result of a stage of a cycle. */
import type { StageOut } from "@/generated/api";
import type { I18n } from "@/shared/i18n/i18n";

import { trainingName } from "./figures";

type Result = StageOut["result"];
type T = I18n["t"];

const ROUTES = ["sft", "ct", "none"] as const;
const PHASES = ["ct", "sft", "merge", "pref", "rl"] as const;
const VALUE_SOURCES = ["review", "verifier", "outcome", "judge", "nobody"] as const;
const FINDINGS = ["better", "worse", "chance"] as const;
const REFUSALS = ["attempt_stale", "attempt_unjudged"] as const;
/** Codes of failures that a person can fix; each has a message that says how. */
const ACTIONABLE_CODES = ["judge_failed", "nobody_serves", "serving_away", "serving_refused", "serving_taken", "serving_in_use", "too_long", "weights_missing"] as const;

const asNumber = (value: unknown): number => (typeof value === "number" ? value : 0);
const asText = (value: unknown): string => (typeof value === "string" ? value : "");
const asRecord = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
const asStrings = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);

/** What each stage counted, the most important first. */
const FACTS: Record<StageOut["name"], (result: Result, t: T) => readonly string[]> = {
  collect: ({ samples }, t) => [t("flywheel.result.collect", { count: asNumber(samples) })],
  check: ({ executable, not_executable: not, duplicates, unchecked }, t) => [
    t("flywheel.result.executable", { count: asNumber(executable) }),
    t("flywheel.result.not_executable", { count: asNumber(not) }),
    t("flywheel.result.duplicates", { count: asNumber(duplicates) }),
    ...(asText(unchecked) === "" ? [] : [t("flywheel.result.unchecked", { code: asText(unchecked) })]),
  ],
  value: ({ by }, t) => describeCounts(VALUE_SOURCES, by, (word) => t(`flywheel.value_source.${word}`)),
  route: ({ routes, playing }, t) => [
    ...describeCounts(ROUTES, routes, (route) => t(`flywheel.route.${route}`)),
    ...(asStrings(playing).length > 0 ? [t("flywheel.result.playing", { kinds: asStrings(playing).join(", ") })] : []),
  ],
  mix: (result, t) =>
    Object.entries(result).map(([name, counted]) => {
      const { phase: named, domain, fresh, earlier, own, choices, sources } = asRecord(counted);
      const phase = PHASES.find((one) => one === (named ?? name));
      const from = asStrings(sources).join(", ");
      const counts = { phase: phase ? trainingName({ phase, domain: asText(domain) }, t) : name, fresh: asNumber(fresh), earlier: asNumber(earlier), own: asNumber(own), sources: from };
      if (phase === "pref") return t("flywheel.result.mix_choices", { ...counts, count: asNumber(choices) });
      return t(asNumber(own) > 0 ? "flywheel.result.mix_own" : "flywheel.result.mix", counts);
    }),
  train: ({ phases, refused }, t) => {
    const done = PHASES.filter((phase) => asStrings(phases).includes(phase));
    if (done.length === 0) return [t("flywheel.nothing_trained")];
    return [...done.map((phase) => t(`flywheel.phase.${phase}`)), ...Object.entries(asRecord(refused)).map(([code, count]) => refusedFact(code, asNumber(count), t))];
  },
  gate: (result, t) => (asText(result.candidate) === "" ? [t("flywheel.nothing_trained")] : gateFacts(result, t)),
  register: ({ judged, passed }, t) => [t(judged !== true ? "flywheel.not_judged" : passed === true ? "flywheel.passed" : "flywheel.not_passed")],
  refresh: ({ active, reloaded }, t) =>
    asText(active) === ""
      ? [t("flywheel.result.as_before")]
      : [t("flywheel.result.active", { revision: asText(active) }), ...(reloaded === true ? [t("flywheel.result.reloaded")] : [])],
};

/** The facts of a stage that ended; one that has only begun has none. */
export function stageFacts(name: StageOut["name"], result: Result, { t }: Pick<I18n, "t">): readonly string[] {
  return Object.keys(result).length === 0 ? [] : FACTS[name](result, t);
}

/** What a stage ended with, by its stable code; where somebody can do something about it, also what. */
export function stageProblem({ state, code, error }: Pick<StageOut, "state" | "code" | "error">, { t }: Pick<I18n, "t">): string {
  if (code === "trainer_missing") return `${code}: ${t("flywheel.trainer_missing")}`;
  const actionable = ACTIONABLE_CODES.find((one) => one === code);
  if (actionable !== undefined) return `${code}: ${t(`flywheel.${actionable}`, { error })}`;
  if (code !== "unforeseen") return `${code}: ${error}`;
  return `${code}: ${t(state === "failed" ? "flywheel.unforeseen" : "flywheel.unforeseen_again", { error })}`;
}

function describeCounts<W extends string>(words: readonly W[], counts: unknown, named: (word: W) => string): readonly string[] {
  const given = asRecord(counts);
  return words.filter((word) => given[word] !== undefined).map((word) => `${named(word)} ${String(asNumber(given[word]))}`);
}

/** The number of reinforcement attempts that were not used in training, and the reason. */
function refusedFact(code: string, count: number, t: T): string {
  const known = REFUSALS.find((one) => one === code);
  return known === undefined ? t("flywheel.result.refused", { count, code }) : t(`flywheel.result.${known}`, { count });
}

function gateFacts(result: Result, t: T): readonly string[] {
  const found = FINDINGS.find((finding) => finding === result.finding);
  const [successes, attempts] = [asNumber(result.active_successes), asNumber(result.active_attempts)];
  return [
    t("flywheel.result.of", { successes: asNumber(result.successes), attempts: asNumber(result.attempts) }),
    ...(attempts === 0 ? [] : [t("flywheel.result.before", { successes, attempts })]),
    ...(found === undefined ? [] : [t(`flywheel.finding.${found}`)]),
  ];
}
