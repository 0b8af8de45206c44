/** The correction being written for a step: its fields, and the action they make. */
import { useState } from "react";

import type { FixOut } from "@/generated/api";
import type { Action, Point, Step } from "@/generated/vocabulary";
import { movePoint } from "@/shared/actions/move-point";
import { parseAction } from "@/shared/actions/parse";
import { printAction } from "@/shared/actions/print";

export interface Correction {
  /** Of the step. */
  readonly index: number;
  readonly thought: string;
  readonly line: string;
  readonly reason: string;
  /** What the line says; null where it is no action. */
  readonly action: Action | null;
  readonly changed: boolean;
  /** The revision it is written over. */
  readonly base: number;
}

type Draft = Pick<Correction, "index" | "thought" | "line" | "reason" | "base"> & { readonly from: { readonly thought: string; readonly action: Action } };

export interface CorrectionEditor {
  /** Of the step at hand; null while none is written for it. */
  readonly correction: Correction | null;
  readonly open: (step: Step, last: FixOut | undefined) => void;
  readonly change: (fields: Partial<Pick<Correction, "thought" | "line" | "reason">>) => void;
  readonly move: (index: number, to: Point) => void;
  readonly close: () => void;
}

export function useCorrection(): CorrectionEditor {
  const [draft, setDraft] = useState<Draft | null>(null);
  return {
    correction: draft && correctionOf(draft),
    open: (step, last) => {
      const { thought, action } = last ?? step;
      setDraft((draft) =>
        draft?.index === step.index
          ? draft
          : { index: step.index, from: { thought, action }, thought, line: printAction(action), reason: "", base: last?.revision ?? 0 },
      );
    },
    change: (fields) => setDraft((draft) => draft && { ...draft, ...fields }),
    move: (index, to) =>
      setDraft((draft) => {
        const action = draft && correctionOf(draft).action;
        return draft && action ? { ...draft, line: printAction(movePoint(action, index, to)) } : draft;
      }),
    close: () => setDraft(null),
  };
}

/** What cannot be written in a line (a gesture, a file) stays while it is left alone. */
export function correctionOf({ from, ...draft }: Draft): Correction {
  const written = printAction(from.action);
  const read = draft.line === written ? { ok: true as const, action: from.action } : parseAction(draft.line);
  return { ...draft, action: read.ok ? read.action : null, changed: draft.thought !== from.thought || draft.line !== written };
}
