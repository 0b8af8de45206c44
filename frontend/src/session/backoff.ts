/** How long to wait before trying again: exponential with jitter, so many clients do not return at once. */

export interface Backoff {
  /** Milliseconds; the first wait lies below it. */
  readonly base: number;
  /** Milliseconds; no wait lies above it. */
  readonly cap: number;
}

/** The wait (milliseconds) before attempt `attempt`, counted from 0; `random` is in [0, 1). */
export function delay(attempt: number, { base, cap }: Backoff, random = Math.random()): number {
  const ceiling = Math.min(cap, base * 2 ** Math.min(attempt, 30));
  return Math.round(ceiling / 2 + (random * ceiling) / 2);
}
