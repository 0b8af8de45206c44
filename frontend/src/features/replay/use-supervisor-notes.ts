/** The notes of supervisors on an attempt. */
import { useQuery } from "@tanstack/react-query";

import type { SupervisorNoteOut } from "@/generated/api";
import type { Trajectory } from "@/generated/vocabulary";

import { supervisorNotesQuery } from "./api";

/** A note whose text is known only on the platform where it was written. */
export type ReplayNote = Omit<SupervisorNoteOut, "text"> & { readonly text?: string };

const NO_NOTES: readonly ReplayNote[] = [];

/** What supervisors did in the attempt, and the names behind the pseudonyms of their steps. */
export function useSupervisorNotes({ id, supervisor_notes: stored }: Pick<Trajectory, "id" | "supervisor_notes">) {
  const { data, isLoading } = useQuery({ ...supervisorNotesQuery(id), enabled: stored.length > 0 });
  const named: readonly ReplayNote[] = data ?? NO_NOTES;
  // An imported episode has only those of its trajectory.
  const notes: readonly ReplayNote[] = isLoading || named.length > 0 ? named : stored.map((note, index) => ({ ...note, id: -1 - index, pseudonym: note.author }));
  return { notes, nameOf: (actedBy: string | null) => named.find(({ pseudonym }) => pseudonym === actedBy)?.author };
}
