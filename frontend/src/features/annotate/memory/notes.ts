/** Which steps a note tells of; pure. */
import type { Memory } from "@/generated/vocabulary";

/** The indices of the first and the last step of a note: it goes on where the note before it ended. */
export function spanOf(memories: readonly Memory[], memory: Memory): readonly [number, number] {
  const before = memories[memories.indexOf(memory) - 1];
  return [before === undefined ? 0 : before.through + 1, memory.through];
}
