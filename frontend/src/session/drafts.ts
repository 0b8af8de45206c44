/** What a person typed and what they sent, kept across reloads: local storage, one entry an episode. */

import type { Outbox } from "./outbox";

/** The step being composed; it belongs to the screen it was composed on. */
export interface Draft {
  readonly command: string;
  readonly thought: string;
  /** The candidate whose thought was taken over, if any. */
  readonly proposalId: string | null;
  /** That candidate's own thought, to show what was changed. */
  readonly original: string;
}

export const EMPTY_DRAFT: Draft = { command: "", thought: "", proposalId: null, original: "" };

export function isEmpty(draft: Draft): boolean {
  return draft.command.trim() === "" && draft.thought.trim() === "";
}

export interface DraftStore {
  loadDraft(episodeId: string, step: number): Draft;
  saveDraft(episodeId: string, step: number, draft: Draft): void;
  loadOutbox(episodeId: string): Outbox;
  saveOutbox(episodeId: string, outbox: Outbox): void;
  /** Texts typed lately, newest first. */
  recentTexts(): readonly string[];
  rememberText(text: string): void;
}

const PREFIX = "pilothouse";
const RECENT = 20;
const RECENT_LENGTH = 200;

/** Drafts over a `Storage`. A full or forbidden storage costs the draft's survival, never the page. */
export function draftStore(storage: Storage): DraftStore {
  const draftKey = (episodeId: string) => `${PREFIX}.draft.${episodeId}`;
  const outboxKey = (episodeId: string) => `${PREFIX}.outbox.${episodeId}`;
  return {
    loadDraft(episodeId, step) {
      const kept = read(storage, draftKey(episodeId));
      return isRecord(kept) && kept.step === step ? asDraft(kept) : EMPTY_DRAFT;
    },
    saveDraft(episodeId, step, draft) {
      write(storage, draftKey(episodeId), isEmpty(draft) ? null : { step, ...draft });
    },
    loadOutbox(episodeId) {
      const kept = read(storage, outboxKey(episodeId));
      return Array.isArray(kept) ? kept.filter(isEntry) : [];
    },
    saveOutbox(episodeId, outbox) {
      write(storage, outboxKey(episodeId), outbox.length === 0 ? null : outbox);
    },
    recentTexts() {
      const kept = read(storage, `${PREFIX}.texts`);
      return Array.isArray(kept) ? kept.filter((text) => typeof text === "string") : [];
    },
    rememberText(text) {
      if (text.trim() === "" || text.length > RECENT_LENGTH) return;
      const others = this.recentTexts().filter((known) => known !== text);
      write(storage, `${PREFIX}.texts`, [text, ...others].slice(0, RECENT));
    },
  };
}

function read(storage: Storage, key: string): unknown {
  try {
    const text = storage.getItem(key);
    return text === null ? null : JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof DOMException) return null;
    throw error;
  }
}

function write(storage: Storage, key: string, value: unknown): void {
  try {
    if (value === null) storage.removeItem(key);
    else storage.setItem(key, JSON.stringify(value));
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function isEntry(value: unknown): value is Outbox[number] {
  return isRecord(value) && typeof value.at === "number" && isRecord(value.command);
}

function asDraft(kept: Record<string, unknown>): Draft {
  const text = (key: string) => (typeof kept[key] === "string" ? kept[key] : "");
  return {
    command: text("command"),
    thought: text("thought"),
    proposalId: typeof kept.proposalId === "string" ? kept.proposalId : null,
    original: text("original"),
  };
}
