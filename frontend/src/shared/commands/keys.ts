/**
 * Keys of commands: how a key press is read, written and compared; pure.
 *
 * A combination is written `Mod+Shift+K`: modifiers in the order Mod, Alt, Shift, then one key. `Mod` is Ctrl, on a Mac ⌘.
 * Letters and signs are taken from what the layout prints (`event.key`), so a key is where its label is; where a layout prints
 * something else, such as Cyrillic letters or the French digit row, the place of the key (`event.code`) counts as well.
 * Signs hold their own Shift: `?` is `?` whichever keys make it.
 */

export type KeyPress = Pick<KeyboardEvent, "key" | "code" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey"> & {
  getModifierState?: (name: string) => boolean;
};

/** Whether the page runs on a computer or phone of Apple. */
export const isMac = (platform = navigator.platform) => /mac|iphone|ipad/i.test(platform);

const NAMES: Record<string, string> = { " ": "Space", Esc: "Escape" };
const MODIFIER_KEYS = new Set(["Control", "Shift", "Alt", "Meta", "AltGraph", "CapsLock", "Dead", "Process", "Unidentified"]);

/** Every combination a key press can stand for, most literal first; none for a bare modifier. */
export function combinationsOf(press: KeyPress, mac = isMac()): string[] {
  if (MODIFIER_KEYS.has(press.key)) return [];
  const altGraph = press.getModifierState?.("AltGraph") ?? false;
  const mod = !altGraph && (mac ? press.metaKey : press.ctrlKey);
  const alt = !altGraph && press.altKey;
  const found = [printed(press.key), placed(press.code)].filter((key): key is Key => key !== null);
  return [...new Set(found.map((key) => write(key.name, mod, alt, press.shiftKey && !key.ownsShift)))];
}

type Key = { name: string; ownsShift: boolean };

function printed(key: string): Key | null {
  const name = NAMES[key] ?? key;
  if (name.length > 1) return { name, ownsShift: false };
  const letter = name.toUpperCase() !== name.toLowerCase();
  return { name: letter ? name.toUpperCase() : name, ownsShift: !letter && !/\d/.test(name) };
}

function placed(code: string): Key | null {
  const name = /^(?:Key([A-Z])|(?:Digit|Numpad)(\d))$/.exec(code);
  return name ? { name: name[1] ?? name[2] ?? "", ownsShift: false } : null;
}

const write = (name: string, mod: boolean, alt: boolean, shift: boolean) =>
  [mod && "Mod", alt && "Alt", shift && "Shift", name].filter(Boolean).join("+");

const LABELS: Record<string, string> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Enter: "⏎",
  Escape: "Esc",
  Tab: "⇥",
  Backspace: "⌫",
  Delete: "Del",
  PageUp: "PgUp",
  PageDown: "PgDn",
};
const MAC_MODIFIERS: Record<string, string> = { Mod: "⌘", Alt: "⌥", Shift: "⇧" };

/** What is printed on each key of a combination, for people. */
export function labelsOf(combination: string, mac = isMac()): string[] {
  const parts = combination === "+" ? ["+"] : combination.split(/\+(?=.)/);
  return parts.map((part) => LABELS[part] ?? (mac ? MAC_MODIFIERS[part] : part === "Mod" ? "Ctrl" : undefined) ?? part);
}
