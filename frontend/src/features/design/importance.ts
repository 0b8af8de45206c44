/** Importance from its three measures; pure functions, by the weights that the server has. */
import type { ImportanceWeights, Measures } from "@/generated/api";

export const MEASURES = ["frequency", "benefit", "transfer"] as const satisfies readonly (keyof Measures)[];

/** 0 to 10, two digits. */
export const importanceOf = (measures: Measures, weights: ImportanceWeights): number =>
  Math.round(MEASURES.reduce((sum, name) => sum + weights[name] * measures[name], 0) * 100) / 100;
