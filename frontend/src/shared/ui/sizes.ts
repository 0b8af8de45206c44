/** Sizes of the screen of a suite's tasks, as `640x480` (pixels). Pure. */

export type TaskWithSizes = { readonly name: string; readonly sizes: readonly string[] };

const sidesOf = (size: string): number[] => size.split("x").map(Number);
const area = (size: string): number => sidesOf(size).reduce((product, side) => product * side, 1);

/** A size as calls have it: width and height; null: each task's own. */
export const sizeOf = (text: string): number[] | null => (text === "" ? null : sidesOf(text));

/**
 * The sizes that can be wanted, the smallest first: those that every chosen task is offered in. With no task chosen all
 * sizes of all tasks, as those that cannot have it are left out.
 */
export function offeredSizes(tasks: readonly TaskWithSizes[], chosen: readonly string[]): string[] {
  const all = [...new Set(tasks.flatMap(({ sizes }) => sizes))].sort((one, other) => area(one) - area(other));
  const wanted = chosen.map((name) => tasks.find((task) => task.name === name)?.sizes ?? []);
  return all.filter((size) => wanted.every((sizes) => sizes.includes(size)));
}

/** A size where these tasks are offered in it, else each task's own. */
export const keepOffered = (size: string, tasks: readonly TaskWithSizes[], chosen: readonly string[]): string =>
  offeredSizes(tasks, chosen).includes(size) ? size : "";
