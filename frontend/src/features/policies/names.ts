/** How a revision is called. */
import type { RevisionSummary } from "@/generated/api";

export const nameOf = ({ policy }: RevisionSummary): string => `${policy.name} ${policy.revision}`;

/** The revision of this number; null where nobody is meant. */
export const revisionOf = (revisions: readonly RevisionSummary[], id: number | null): RevisionSummary | null =>
  revisions.find((revision) => revision.id === id) ?? null;
