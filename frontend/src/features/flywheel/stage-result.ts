/** What came of a turn's stage, in words. */
import type { StageOut } from "@/generated/api";
import type { I18n } from "@/shared/i18n/i18n";

type Result = StageOut["result"];
type T = I18n["t"];

const ROUTES = ["sft", "ct", "none"] as const;
const PHASES = ["ct", "sft", "rl"] as const;
const WORDS = ["review", "verifier", "outcome", "judge", "nobody"] as const;
const FINDINGS = ["better", "worse", "chance"] as const;
/** Codes of somebody asked who was of no use, which somebody can mend. */
const USELESS = ["judge_failed", "nobody_serves", "serving_away", "serving_refused", "serving_taken", "serving_in_use", "too_long", "weights_missing"] as const;

const count = (value: unknown): number => (typeof value === "number" ? value : 0);
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const within = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
const listed = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);

/** What each stage counted, the most important first. */
const FACTS: Record<StageOut["name"], (result: Result, t: T) => readonly string[]> = {
  collect: ({ samples }, t) => [t("flywheel.came.collect", { count: count(samples) })],
  check: ({ executable, not_executable: not, duplicates, unchecked }, t) => [
    t("flywheel.came.executable", { count: count(executable) }),
    t("flywheel.came.not_executable", { count: count(not) }),
    t("flywheel.came.duplicates", { count: count(duplicates) }),
    ...(text(unchecked) === "" ? [] : [t("flywheel.came.unchecked", { code: text(unchecked) })]),
  ],
  value: ({ by }, t) => counted(WORDS, by, (word) => t(`flywheel.by.${word}`)),
  route: ({ routes, playing }, t) => [
    ...counted(ROUTES, routes, (route) => t(`flywheel.route.${route}`)),
    ...(listed(playing).length > 0 ? [t("flywheel.came.playing", { kinds: listed(playing).join(", ") })] : []),
  ],
  mix: (result, t) =>
    PHASES.filter((phase) => result[phase] !== undefined).map((phase) => {
      const { fresh, earlier, sources } = within(result[phase]);
      const from = listed(sources).join(", ");
      return t("flywheel.came.mix", { phase: t(`flywheel.phase.${phase}`), fresh: count(fresh), earlier: count(earlier), sources: from });
    }),
  train: ({ phases }, t) => {
    const done = PHASES.filter((phase) => listed(phases).includes(phase));
    return done.length > 0 ? done.map((phase) => t(`flywheel.phase.${phase}`)) : [t("flywheel.nothing_trained")];
  },
  gate: (result, t) => (text(result.candidate) === "" ? [t("flywheel.nothing_trained")] : tried(result, t)),
  register: ({ judged, passed }, t) => [t(judged !== true ? "flywheel.not_judged" : passed === true ? "flywheel.passed" : "flywheel.shut")],
  refresh: ({ active, reloaded }, t) =>
    text(active) === ""
      ? [t("flywheel.came.as_before")]
      : [t("flywheel.came.active", { revision: text(active) }), ...(reloaded === true ? [t("flywheel.came.reloaded")] : [])],
};

/** The facts of a stage that ended; one that has only begun has none. */
export function stageFacts(name: StageOut["name"], result: Result, { t }: Pick<I18n, "t">): readonly string[] {
  return Object.keys(result).length === 0 ? [] : FACTS[name](result, t);
}

/** What a stage ended with, by its stable code; where somebody can do something about it, also what. */
export function stageProblem({ state, code, error }: Pick<StageOut, "state" | "code" | "error">, { t }: Pick<I18n, "t">): string {
  if (code === "trainer_missing") return `${code}: ${t("flywheel.trainer_missing")}`;
  const useless = USELESS.find((one) => one === code);
  if (useless !== undefined) return `${code}: ${t(`flywheel.${useless}`, { error })}`;
  if (code !== "unforeseen") return `${code}: ${error}`;
  return `${code}: ${t(state === "failed" ? "flywheel.unforeseen" : "flywheel.unforeseen_again", { error })}`;
}

function counted<W extends string>(words: readonly W[], counts: unknown, named: (word: W) => string): readonly string[] {
  const given = within(counts);
  return words.filter((word) => given[word] !== undefined).map((word) => `${named(word)} ${String(count(given[word]))}`);
}

function tried(result: Result, t: T): readonly string[] {
  const found = FINDINGS.find((finding) => finding === result.finding);
  const [successes, attempts] = [count(result.active_successes), count(result.active_attempts)];
  return [
    t("flywheel.came.of", { successes: count(result.successes), attempts: count(result.attempts) }),
    ...(attempts === 0 ? [] : [t("flywheel.came.before", { successes, attempts })]),
    ...(found === undefined ? [] : [t(`flywheel.finding.${found}`)]),
  ];
}
