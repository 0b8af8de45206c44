/** What is written in a form: kept until it is sent or emptied, over reloads, lost connections and whatever else is opened. */
import { useState } from "react";

import type { DraftPlace, DraftStore, Texts } from "./drafts";

export interface WrittenTexts<T extends Texts> {
  readonly texts: T;
  /** Whether they differ from those the form begins with. */
  readonly changed: boolean;
  readonly change: (fields: Partial<T>) => void;
  /** They were sent, or are not wanted any more. */
  readonly clear: () => void;
  /** These were sent; what was written since is kept. */
  readonly clearSent: (sent: T) => void;
}

/** The texts of a form at a place of an episode; `initial` are those it begins with, and those of fields that were never written. */
export function useTexts<T extends Texts>(drafts: DraftStore, episodeId: string, place: DraftPlace, initial: T): WrittenTexts<T> {
  const key = `${episodeId} ${place}`;
  const load = () => ({ key, texts: drafts.loadTexts(episodeId, place) });
  const [state, setState] = useState(load);
  const written = state.key === key ? state : load();
  if (written !== state) setState(written);
  const keep = (texts: Texts | null) => {
    drafts.saveTexts(episodeId, place, texts);
    setState({ key, texts });
  };
  const texts: T = { ...initial, ...written.texts };
  return {
    texts,
    changed: !isSame(texts, initial),
    change: (fields) => {
      const next: T = { ...texts, ...fields };
      keep(isSame(next, initial) ? null : next);
    },
    clear: () => keep(null),
    clearSent: (sent) => {
      const isSent = (texts: Texts | null) => isSame({ ...initial, ...texts }, sent);
      if (isSent(drafts.loadTexts(episodeId, place))) drafts.saveTexts(episodeId, place, null);
      setState((now) => (now.key === key && isSent(now.texts) ? { key, texts: null } : now));
    },
  };
}

function isSame(one: Texts, other: Texts): boolean {
  return Object.keys({ ...one, ...other }).every((field) => (one[field] ?? "") === (other[field] ?? ""));
}
