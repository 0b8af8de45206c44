/** Wanted shares of the levels of difficulty, as they are edited; pure functions. */
export const sumOf = (shares: readonly number[]): number => shares.reduce((sum, share) => sum + share, 0);

/** Whether they are whole percentages, 100 together. */
export const isWhole = (shares: readonly number[]): boolean =>
  shares.every((share) => Number.isInteger(share) && share >= 0) && sumOf(shares) === 100;
