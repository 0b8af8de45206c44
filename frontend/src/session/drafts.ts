/** What a person typed and what they sent, kept across reloads: theirs alone, one entry for each place of an episode. */

import { parseAction } from "@/shared/actions/parse";
import { markerOf } from "@/shared/markers/marker";

import type { Outbox } from "./outbox";
import { isRange, type TextRange } from "./text-ranges";

/** The step being composed; it belongs to the screen it was composed on. */
export interface Draft {
  readonly command: string;
  readonly thought: string;
  /** The candidate whose thought was taken over, if any. */
  readonly proposalId: string | null;
  /** That candidate's own thought, to show what was changed. */
  readonly original: string;
  /** Where the thought is the policy's continuation of what was typed. */
  readonly taken: readonly TextRange[];
}

export const EMPTY_DRAFT: Draft = { command: "", thought: "", proposalId: null, original: "", taken: [] };

export function isEmpty(draft: Draft): boolean {
  return draft.command.trim() === "" && draft.thought.trim() === "";
}

/** The texts of a form, by field. */
export type Texts = Readonly<Record<string, string>>;

/** Where texts are written besides the step: a dialog or panel of the desk, or a form of the review. */
export type DraftPlace =
  | "finish" | "infeasible" | "help" | `takeover.${number}` | "leave" | "thoughts" | "note" | "cell" | `decision.${number}`
  | `memory.${number}` | `file.${string}` | `tool.${string}` | `remark.${string}` | `correction.${number}` | `comparison.${string}`;

export interface DraftStore {
  /** What was written at a place and not sent; null where nothing was. */
  loadTexts(episodeId: string, place: DraftPlace): Texts | null;
  /** Keeps texts; null removes them. */
  saveTexts(episodeId: string, place: DraftPlace, texts: Texts | null): void;
  /** The draft of this step; of one begun at another step, what holds on any screen. */
  loadDraft(episodeId: string, step: number): Draft;
  saveDraft(episodeId: string, step: number, draft: Draft): void;
  loadOutbox(episodeId: string): Outbox;
  saveOutbox(episodeId: string, outbox: Outbox): void;
  /** Texts typed lately, newest first. */
  recentTexts(): readonly string[];
  rememberText(text: string): void;
  /** For the end of a sign-in: such texts may be secret, also those written for files, tools and the notebook. */
  forgetTexts(): void;
}

interface Storages {
  /** Drafts and texts outlive the tab. */
  readonly lasting: Storage;
  /** What was sent belongs to one tab, whose session sends it again; two tabs would overwrite each other's. */
  readonly tab: Storage;
}

const PREFIX = "pilothouse";
const RECENT = 20;
const RECENT_LENGTH = 200;
/** After an episode's id, the places of texts that are written for its machine. */
const MACHINE_PLACE = /^[^.]+\.(?:file\.|tool\.|cell$)/;
/** Drafts a person has in one browser; the oldest go. */
const MAX_DRAFTS = 200;
/** Beyond this (characters) a draft is not kept as it grows: a browser has about 5,000,000 for all. */
const MAX_DRAFT_LENGTH = 250_000;

/** The drafts of a person. A full or forbidden storage costs the draft's survival, never the page. */
export function draftStore({ lasting, tab }: Storages, userId: number): DraftStore {
  const allDrafts = `${PREFIX}.${userId}.draft.`;
  const draftKey = (episodeId: string) => `${allDrafts}${episodeId}`;
  const textsKeyOf = (episodeId: string, place: DraftPlace) => `${draftKey(episodeId)}.${place}`;
  const outboxKey = (episodeId: string) => `${PREFIX}.${userId}.outbox.${episodeId}`;
  const textsKey = `${PREFIX}.${userId}.texts`;
  return {
    loadDraft(episodeId, step) {
      const stored = read(lasting, draftKey(episodeId));
      if (!isRecord(stored)) return EMPTY_DRAFT;
      return stored.step === step ? asDraft(stored) : withoutScreenState(asDraft(stored));
    },
    saveDraft(episodeId, step, draft) {
      writeDraft(lasting, allDrafts, draftKey(episodeId), isEmpty(draft) ? null : { step, ...draft });
    },
    loadTexts(episodeId, place) {
      const stored = read(lasting, textsKeyOf(episodeId, place));
      return isRecord(stored) && isTexts(stored.texts) ? stored.texts : null;
    },
    saveTexts(episodeId, place, texts) {
      writeDraft(lasting, allDrafts, textsKeyOf(episodeId, place), texts && { texts });
    },
    loadOutbox(episodeId) {
      const stored = read(tab, outboxKey(episodeId));
      return Array.isArray(stored) ? stored.filter(isEntry) : [];
    },
    saveOutbox(episodeId, outbox) {
      write(tab, outboxKey(episodeId), outbox.length === 0 ? null : outbox);
    },
    recentTexts() {
      const stored = read(lasting, textsKey);
      return Array.isArray(stored) ? stored.filter((text) => typeof text === "string") : [];
    },
    rememberText(text) {
      if (text.trim() === "" || text.length > RECENT_LENGTH) return;
      const others = this.recentTexts().filter((known) => known !== text);
      write(lasting, textsKey, [text, ...others].slice(0, RECENT));
    },
    forgetTexts() {
      write(lasting, textsKey, null);
      const machineTexts = keysWith(lasting, allDrafts).filter((key) => MACHINE_PLACE.test(key.slice(allDrafts.length)));
      for (const key of machineTexts) write(lasting, key, null);
    },
  };
}

/** The places a draft names and the candidate it came from belong to their screen; a person's words do not. */
function withoutScreenState({ command, thought, original, taken }: Draft): Draft {
  const parsed = parseAction(command);
  const marker = parsed.ok ? markerOf(parsed.action) : null;
  const placed = marker !== null && marker.shape !== "caret";
  const words = thought === original ? EMPTY_DRAFT : { thought, taken };
  return { ...EMPTY_DRAFT, command: placed ? "" : command, thought: words.thought, taken: words.taken };
}

/** The store of a person in this browser. */
export function browserDraftStore(userId: number): DraftStore {
  return draftStore({ lasting: window.localStorage, tab: window.sessionStorage }, userId);
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

/** Keeps a draft with its time, in place of the oldest where there are too many, or no room. */
function writeDraft(storage: Storage, prefix: string, key: string, value: Readonly<Record<string, unknown>> | null): void {
  const text = value && JSON.stringify({ at: Date.now(), ...value });
  if (text === null) {
    write(storage, key, null);
    return;
  }
  try {
    // What cannot be kept leaves nothing: an older, shorter version must not come back.
    if (text.length > MAX_DRAFT_LENGTH || !storeOverOldest(storage, prefix, key, text)) storage.removeItem(key);
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
  }
}

/** Stores a draft; the oldest others make room, no more of them than it is long. False where that does not help. */
function storeOverOldest(storage: Storage, prefix: string, key: string, text: string): boolean {
  if (storage.getItem(key) === null) {
    const extra = keysWith(storage, prefix).length - MAX_DRAFTS + 1;
    if (extra > 0) for (const oldest of oldestFirst(storage, prefix).slice(0, extra)) storage.removeItem(oldest);
  }
  if (hasStored(storage, key, text)) return true;
  let freed = 0;
  for (const oldest of oldestFirst(storage, prefix).filter((other) => other !== key)) {
    if (freed > key.length + text.length) return false; // it is not drafts that are in the way
    freed += oldest.length + (storage.getItem(oldest)?.length ?? 0);
    storage.removeItem(oldest);
    if (hasStored(storage, key, text)) return true;
  }
  return false;
}

function hasStored(storage: Storage, key: string, text: string): boolean {
  try {
    storage.setItem(key, text);
    return true;
  } catch (error) {
    if (error instanceof DOMException) return false;
    throw error;
  }
}

function keysWith(storage: Storage, prefix: string): string[] {
  return Array.from({ length: storage.length }, (_, index) => storage.key(index)).filter((key) => key !== null).filter((key) => key.startsWith(prefix));
}

function oldestFirst(storage: Storage, prefix: string): string[] {
  const dated = keysWith(storage, prefix).map((key) => ({ key, at: writtenAt(read(storage, key)) }));
  return dated.toSorted((one, other) => one.at - other.at).map(({ key }) => key);
}

/** When a draft was written (ms); 0 for one of before drafts had a time. */
function writtenAt(stored: unknown): number {
  return isRecord(stored) && typeof stored.at === "number" ? stored.at : 0;
}

function isTexts(value: unknown): value is Texts {
  return isRecord(value) && Object.values(value).every((text) => typeof text === "string");
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function isEntry(value: unknown): value is Outbox[number] {
  return isRecord(value) && typeof value.at === "number" && isRecord(value.command);
}

function asDraft(stored: Record<string, unknown>): Draft {
  const text = (key: string) => (typeof stored[key] === "string" ? stored[key] : "");
  return {
    command: text("command"),
    thought: text("thought"),
    proposalId: typeof stored.proposalId === "string" ? stored.proposalId : null,
    original: text("original"),
    taken: Array.isArray(stored.taken) ? stored.taken.filter(isRange) : [],
  };
}
