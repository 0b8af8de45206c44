/** Hotkeys as text and as pressed: "ctrl+s" ↔ ["ctrl", "s"] ↔ a keyboard event. */

import { KEY_ALIASES, KEY_NAMES, MODIFIERS } from "@/generated/vocabulary";

const NAMES: ReadonlySet<string> = new Set(KEY_NAMES);
const SPELLINGS: Readonly<Record<string, string>> = KEY_ALIASES;

/** The canonical name of a key however it is spelled, null where it is none. */
export function canonicalKey(spelling: string): string | null {
  if (spelling === " ") return "space";
  const lower = spelling.trim().toLowerCase();
  if (NAMES.has(lower)) return lower;
  const bare = lower.replace(/[ _-]/g, "");
  if (Object.hasOwn(SPELLINGS, bare)) return SPELLINGS[bare] ?? null;
  return NAMES.has(bare) ? bare : null;
}

/** The keys of a hotkey written with `+` or spaces between them; null where a part is no key. */
export function parseHotkey(hotkey: string): string[] | null {
  const words = hotkey.trim().split(/\s+/).flatMap(chord);
  const keys = words.map(canonicalKey);
  return keys.length > 0 && keys.every((key) => key !== null) ? keys : null;
}

/** "ctrl++" holds the plus key: a separator at the end is a key itself. */
function chord(word: string): string[] {
  if (canonicalKey(word) !== null) return [word];
  if (word.endsWith("++")) return [...chord(word.slice(0, -2)), "+"];
  return word.split("+");
}

export function hotkeyText(keys: readonly string[]): string {
  return keys.join("+");
}

/** What a keyboard event tells of the key that was pressed. */
export interface KeyPress {
  readonly code: string;
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly shiftKey: boolean;
  readonly altKey: boolean;
  readonly metaKey: boolean;
}

/** The canonical name of the pressed key: by what it prints where that is a key, else by where it lies (US layout). */
export function pressedKey({ code, key }: Pick<KeyPress, "code" | "key">): string | null {
  return (key.length === 1 ? canonicalKey(key) : null) ?? canonicalKey(code) ?? canonicalKey(key);
}

/** The hotkey a key press makes together with the modifiers held; null while only modifiers are down. */
export function pressedChord(event: KeyPress): string[] | null {
  const key = pressedKey({ code: event.code, key: event.key });
  if (key === null || (MODIFIERS as readonly string[]).includes(key)) return null;
  return [...modifiersOf(event), key];
}

/** The modifiers that are down while a key or a button is pressed. */
export function modifiersOf({ ctrlKey, shiftKey, altKey, metaKey }: Pick<KeyPress, "ctrlKey" | "shiftKey" | "altKey" | "metaKey">): string[] {
  return [ctrlKey && "ctrl", shiftKey && "shift", altKey && "alt", metaKey && "super"].filter((name) => name !== false);
}
