/** The corrections being written: their fields, and the actions they make. Each step keeps its own until it is saved or closed. */
import { useState } from "react";

import type { FixOut, ReviewDetails } from "@/generated/api";
import type { Action, Point, Step } from "@/generated/vocabulary";
import { movePoint } from "@/shared/actions/move-point";
import { parseAction } from "@/shared/actions/parse";
import { printAction } from "@/shared/actions/print";
import type { DraftStore } from "@/session/drafts";

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

type Fields = Pick<Correction, "thought" | "line" | "reason" | "base">;

export interface CorrectionEditor {
  /** Of a step; null while none is written for it. */
  readonly of: (index: number) => Correction | null;
  readonly open: (index: number) => void;
  readonly change: (index: number, fields: Partial<Omit<Fields, "base">>) => void;
  /** Moves a point of the action to another place. */
  readonly move: (index: number, point: number, to: Point) => void;
  /** Closes it and forgets what was written. */
  readonly close: (index: number) => void;
}

/** Whether a person may correct steps: as the annotator of what was sent back, or as the reviewer who has it. */
export function mayCorrect({ may, claim }: Pick<ReviewDetails, "may" | "claim">): boolean {
  return may === "mend" || (may === "review" && (claim === null || claim.mine));
}

/** The corrections of an episode's steps over their earlier corrections (`fixes`, oldest first). */
export function useCorrections(drafts: DraftStore, episodeId: string, steps: readonly Step[], fixes: readonly FixOut[]): CorrectionEditor {
  const [written, setWritten] = useState<Readonly<Record<string, Fields | null>>>({});
  const keyOf = (index: number) => `${episodeId} ${index}`;
  const fieldsOf = (index: number) => {
    const fields = written[keyOf(index)];
    return fields === undefined ? load(drafts, episodeId, index) : fields;
  };
  const stepAt = (index: number) => steps.find((step) => step.index === index);
  const sourceOf = (index: number, base: number) =>
    base === 0 ? stepAt(index) : fixes.find((fix) => fix.index === index && fix.revision === base);
  const of = (index: number): Correction | null => {
    const fields = fieldsOf(index);
    const from = fields && sourceOf(index, fields.base);
    return fields && from ? correctionOf(index, fields, from) : null;
  };
  const keep = (index: number, fields: Fields | null) => {
    const from = fields && sourceOf(index, fields.base);
    save(drafts, episodeId, index, fields && from && (fields.reason !== "" || correctionOf(index, fields, from).changed) ? fields : null);
    setWritten((written) => ({ ...written, [keyOf(index)]: fields }));
  };
  const change: CorrectionEditor["change"] = (index, changed) => {
    const fields = fieldsOf(index);
    if (fields) keep(index, { ...fields, ...changed });
  };
  return {
    of,
    change,
    open: (index) => {
      const last = fixes.findLast((fix) => fix.index === index);
      const from = last ?? stepAt(index);
      if (from && of(index) === null) {
        keep(index, { thought: from.thought, line: printAction(from.action), reason: "", base: last?.revision ?? 0 });
      }
    },
    move: (index, point, to) => {
      const action = of(index)?.action;
      if (action) change(index, { line: printAction(movePoint(action, point, to)) });
    },
    close: (index) => keep(index, null),
  };
}

/** What cannot be written in a line (a gesture, a file) stays while it is left alone. */
function correctionOf(index: number, fields: Fields, from: Pick<Step, "thought" | "action">): Correction {
  const written = printAction(from.action);
  const read = fields.line === written ? { ok: true as const, action: from.action } : parseAction(fields.line);
  return { ...fields, index, action: read.ok ? read.action : null, changed: fields.thought !== from.thought || fields.line !== written };
}

function load(drafts: DraftStore, episodeId: string, index: number): Fields | null {
  const texts = drafts.loadTexts(episodeId, `correction.${index}`);
  if (texts === null) return null;
  const { thought = "", line = "", reason = "", base = "0" } = texts;
  return { thought, line, reason, base: Number(base) };
}

function save(drafts: DraftStore, episodeId: string, index: number, fields: Fields | null): void {
  drafts.saveTexts(episodeId, `correction.${index}`, fields && { ...fields, base: String(fields.base) });
}
