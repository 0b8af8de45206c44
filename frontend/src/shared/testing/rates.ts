/** Rates for tests. */
import type { Rate } from "@/generated/api";

/** The interval is not computed: tests choose one to recognise it. */
export const makeRate = (successes: number, attempts: number, low = 0, high = 1): Rate => ({
  successes,
  attempts,
  rate: successes / attempts,
  low,
  high,
});
