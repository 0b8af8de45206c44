/** A recipe while it is written in the form: every field may be empty until it is sent. */
import type { GateTrials, LikelihoodTraining, Recipe, ReinforcementTraining } from "@/generated/api";

export interface FlywheelDraft {
  readonly name: string;
  /** Empty: cycles are started by hand. */
  readonly everyHours: number | string;
  readonly recipe: Recipe;
}

const SHARES = { fresh: 0.5, earlier: 0.5, general: 0 } as const;
export const PRETRAINING: LikelihoodTraining = {
  ...{ by: "ct", updates: 80, every: 4, settings: {} },
  shares: { fresh: 0.1, earlier: 0.1, general: 0.8 },
};
export const IMITATION: LikelihoodTraining = { by: "ct", updates: 80, shares: SHARES, every: 1, settings: {} };

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
  if (recipe.sft === null && recipe.ct === null && recipe.rl === null) return null;
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
