/** A recipe while it is written in the form: every field may be empty until it is sent. */
import type { GateTrials, LikelihoodTraining, PreferenceTraining, Recipe, ReinforcementTraining } from "@/generated/api";

export interface FlywheelDraft {
  readonly name: string;
  /** Empty: cycles are started by hand. */
  readonly everyHours: number | string;
  readonly recipe: Recipe;
}

const SHARES = { fresh: 0.5, earlier: 0.5, own: 0, general: 0 } as const;
export const PRETRAINING: LikelihoodTraining = {
  ...{ by: "ct", updates: 80, every: 4, corrections: "none", settings: {} },
  shares: { fresh: 0.1, earlier: 0.1, own: 0, general: 0.8 },
};
export const IMITATION: LikelihoodTraining = { by: "ct", updates: 80, shares: SHARES, every: 1, corrections: "interventions", settings: {} };

/** What a preference may follow from, as the form lists it. */
export const PREFERENCE_CHOICES = ["override", "takeover", "mark", "accept"] as const satisfies PreferenceTraining["choices"];
export const PREFERENCES: PreferenceTraining = { algorithm: "dpo", updates: 40, every: 1, choices: ["override", "takeover", "mark"], earlier: true, settings: {} };

/** How specialists of several pools are merged. */
export const MERGE_WEIGHTS = ["equal", "samples"] as const satisfies readonly NonNullable<Recipe["specialists"]>["weights"][];

/** How corrections weigh, the usual way first. */
export const WEIGHTINGS = ["interventions", "shares", "classes", "none"] as const satisfies readonly LikelihoodTraining["corrections"][];

/** Reinforcement that plays what the gate tries, on other seeds: those below the gate's first. */
export function reinforcement({ suite, size, first_seed, parallel }: GateTrials): ReinforcementTraining {
  const seeds = 4;
  const pages = Math.max(seeds, Math.floor(Math.min(first_seed, 96) / seeds) * seeds);
  return {
    ...{ algorithm: "ppo", updates: 8, every: 1, between: [0.1, 0.9], attempts: 1, settings: {} },
    play: {
      ...{ source: "suite", suite, levels: [], pool: "", size, parallel, first_seed: 0, pages, seeds },
      ...{ group: 1, threads: 1, ahead: 1, judges: false },
    },
  };
}

/** A share of the mix; a recipe that was written as JSON may lack it. */
export const shareOf = ({ shares }: LikelihoodTraining, name: keyof LikelihoodTraining["shares"]): number => (shares as Partial<LikelihoodTraining["shares"]>)[name] ?? 0;

/** How long PPO teaches its critic alone at first; the trainer's own default is not to. */
export function valueUpdates({ settings }: ReinforcementTraining): number {
  return typeof settings.value_updates === "number" ? settings.value_updates : 0;
}

/** Between which success rates a kind of task is worth playing. */
export function successBounds({ between: [low, high] }: ReinforcementTraining): readonly [number, number] {
  return [typeof low === "number" ? low : 0, typeof high === "number" ? high : 1];
}

/** The same plan with another lower or upper bound; the other follows where they would cross. */
export function withSuccessBound(plan: ReinforcementTraining, end: "from" | "to", bound: number): ReinforcementTraining {
  const [low, high] = successBounds(plan);
  return { ...plan, between: end === "from" ? [bound, Math.max(bound, high)] : [Math.min(low, bound), bound] };
}

type General = Recipe["general"];
export const GENERAL_KINDS = ["documents", "chats"] as const satisfies readonly General[string]["kind"][];
type GeneralKind = (typeof GENERAL_KINDS)[number];

/** Every path of a kind, whichever source it is in. */
export const generalPaths = (general: General, kind: GeneralKind): readonly string[] =>
  Object.values(general).flatMap((source) => (source.kind === kind ? source.paths : []));

/** The sources with these paths of a kind. Sources keep their names and those of their paths that stay; new paths come into one that has the kind's name. */
export function withGeneralPaths(general: General, kind: GeneralKind, paths: readonly string[]): General {
  const known = new Set(generalPaths(general, kind));
  const added = paths.filter((path) => !known.has(path));
  const own = general[kind]?.kind === kind ? general[kind].paths : [];
  const sources: General = added.length === 0 ? general : { ...general, [kind]: { kind, paths: [...own, ...added] } };
  const remaining = Object.entries(sources).map(([name, source]) => [name, source.kind === kind ? { ...source, paths: source.paths.filter((path) => paths.includes(path)) } : source] as const);
  return Object.fromEntries(remaining.filter(([, { paths: left }]) => left.length > 0));
}

/** Whether a text is missing, as it may be in a recipe that was written as JSON. */
export const isEmpty = (text: string | undefined): boolean => (text ?? "").trim() === "";

/** Whether no tasks are named for the gate, or for attempts at a suite. */
function lacksTasks({ trials, rl }: Recipe): boolean {
  const gate = trials.world === "bridge" && isEmpty(trials.suite) && isEmpty(trials.source);
  return gate || (rl?.play?.source === "suite" && isEmpty(rl.play.suite));
}

/** What is sent; null while a field that needs a value has none. */
export function sendable({ name, everyHours, recipe }: FlywheelDraft): { name: string; every_hours: number | null; recipe: Recipe } | null {
  const hours = everyHours === "" ? null : everyHours;
  if (typeof hours === "string" || name.trim() === "" || recipe.policy.trim() === "" || recipe.start.trim() === "") return null;
  if (lacksTasks(recipe)) return null;
  if (!recipe.sft && !recipe.ct && !recipe.preferences && !recipe.rl) return null;
  return { name: name.trim(), every_hours: hours, recipe };
}

/** The recipe of a text of JSON; null where it is no object. The server says what is wrong with its fields. */
export function recipeOf(text: string): Recipe | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) && "trials" in value ? (value as Recipe) : null;
  } catch {
    return null;
  }
}
