/**
 * During a takeover: what keyboard events mean to a machine with a US keyboard, whatever layout they come from.
 *
 * A character that the US keyboard gives with the same Shift goes as its key, so that it can be held; every other one
 * (AltGr, dead keys, umlauts, Caps Lock, input methods) goes as text. With Ctrl, Alt or Meta the key counts that prints the
 * character. Modifiers wait until something is done under them: Windows tells AltGr as Ctrl and AltGr, and the keys that end a
 * takeover must not reach the machine. The rules follow noVNC's keyboard handling (core/input/keyboard.js).
 */

import { MAX_TEXT, type InputEvent } from "@/generated/vocabulary";
import { canonicalKey, modifiersOf } from "@/shared/actions/keys";

/** Two presses of Escape within this time (milliseconds) are the way out. */
export const DOUBLE_ESCAPE_MS = 400;

type Flags = Pick<KeyboardEvent, "ctrlKey" | "shiftKey" | "altKey" | "metaKey">;

/** The part of a keyboard event that counts here. */
export interface KeyStroke extends Flags {
  readonly type: string;
  readonly code: string;
  readonly key: string;
  readonly keyCode?: number;
  readonly repeat: boolean;
  readonly isComposing: boolean;
  /** `getModifierState("AltGraph")`. */
  readonly altGraph: boolean;
  readonly timeStamp: number;
}

interface Translation {
  readonly inputs: readonly InputEvent[];
  /** The person wants the takeover to end. */
  readonly exit: boolean;
  /** The event is the machine's alone; else the browser goes on with it, as an input method must. */
  readonly taken: boolean;
}

type Modifier = "ctrl" | "shift" | "alt" | "super";
const MODIFIER_KEYS: Readonly<Record<string, Modifier>> = { Control: "ctrl", Shift: "shift", Alt: "alt", Meta: "super", OS: "super", Super: "super" };
/** WebKitGTK's name of the Windows key, which no flag of other events tells. */
const KEY_WITHOUT_FLAG = "Super";
const MODIFIERS: readonly string[] = ["ctrl", "shift", "alt", "super"];
/** They change what this keyboard prints, which the machine gets as printed. */
const LOCKS: ReadonlySet<string | null> = new Set(["capslock", "numlock", "scrolllock"]);
const COMPOSING_KEYS: ReadonlySet<string> = new Set(["Dead", "Process", "Unidentified"]);
const COMPOSING_KEY_CODE = 229;

const TEXT_PIECES = new RegExp(`.{1,${MAX_TEXT}}`, "gsu");

const PLAIN_SIGNS = "`1234567890-=[]\\;',./";
const SHIFTED_SIGNS = '~!@#$%^&*()_+{}|:"<>?';

/** The key that gives a character on a US keyboard, and whether with Shift; null where none does. */
function usKey(character: string): { key: string; shift: boolean } | null {
  if (/^[a-z]$/.test(character)) return { key: character, shift: false };
  if (/^[A-Z]$/.test(character)) return { key: character.toLowerCase(), shift: true };
  if (PLAIN_SIGNS.includes(character)) return { key: character, shift: false };
  const at = SHIFTED_SIGNS.indexOf(character);
  return at < 0 ? null : { key: PLAIN_SIGNS[at] ?? "", shift: true };
}

/** Whether an input method is at work, which tells later what was written. */
function isComposition({ isComposing, keyCode, key }: KeyStroke): boolean {
  return isComposing || keyCode === COMPOSING_KEY_CODE || COMPOSING_KEYS.has(key);
}

/** The letter or digit that a key has on most layouts; null for every other key. */
function plainCharacter(code: string): string | null {
  const found = /^(?:Key([A-Z])|Digit(\d))$/.exec(code);
  return found?.[1]?.toLowerCase() ?? found?.[2] ?? null;
}

/** Ctrl and Alt that write nothing, which some browsers call AltGr too. */
function isControlAlt({ ctrlKey, altKey, code, key }: KeyStroke): boolean {
  return ctrlKey && altKey && (!isPrinted(key) || key.toLowerCase() === plainCharacter(code));
}

/** Whether `event.key` is what was printed, not the name of a key. */
function isPrinted(key: string): boolean {
  return /^.$/u.test(key) || !/^[A-Z][A-Za-z0-9]*$/.test(key);
}

/** Text that came without its keys: what an input method committed, or what was picked or dictated. */
export function committedText(event: { readonly type: string; readonly data: string | null; readonly inputType?: string }): string {
  const counts = event.type === "compositionend" || event.inputType === "insertText" || event.inputType === "insertReplacementText";
  return counts ? (event.data ?? "") : "";
}

/** A text in pieces that the server takes. */
function piecesOf(text: string): string[] {
  return text.match(TEXT_PIECES) ?? [];
}

/** One keyboard in front of one machine; it remembers what the machine holds. */
export class TakeoverKeys {
  /** What the machine holds, by the physical key that holds it there. */
  private readonly down = new Map<string, string>();
  /** Modifiers that are down here and not yet there; `used` once text was typed under them. */
  private readonly waiting = new Map<string, { name: Modifier; used: boolean }>();
  /** Modifiers that are down here and that the flags of other events do not tell, by their physical keys. */
  private readonly unflagged = new Set<string>();
  private escape: { at: number; up: boolean } | null = null;
  private inputs: InputEvent[] = [];
  /** Whether something was copied there later than here. */
  private copiedThere: boolean;
  /** The keys of a paste for which the browser is to tell what is on this device's clipboard. */
  private paste: KeyStroke | null = null;

  /** `copiedThere`: whether the machine's clipboard is known to hold what is to be pasted. */
  constructor(private readonly mac: boolean, copiedThere = false) {
    this.copiedThere = copiedThere;
  }

  /** Whether the machine holds a key. */
  get holds(): boolean {
    return this.down.size > 0;
  }

  /** Whether an Escape waits for a second one. */
  get escapeWaits(): boolean {
    return this.escape !== null;
  }

  keyboard(event: KeyStroke): Translation {
    const stroke = { ...event, altGraph: event.altGraph && !this.mac && !isControlAlt(event) };
    const { exit, taken } = stroke.type === "keyup" ? this.up(stroke) : this.press(stroke);
    return { inputs: this.take(), exit, taken };
  }

  /** Text that came without keys: committed by an input method, picked or dictated. */
  text(text: string): readonly InputEvent[] {
    this.sendEscape();
    if (text !== "") this.type(text);
    return this.take();
  }

  /** What the browser gave for a paste, by keys, by a menu or by touch; the machine's own clipboard counts where it is empty. */
  pasted(text: string): readonly InputEvent[] {
    const stroke = this.paste;
    this.paste = null;
    if (text !== "") return piecesOf(text.replaceAll(/\r\n?/g, "\n")).flatMap((piece) => this.text(piece));
    if (stroke !== null) this.pressCommand({ ...stroke, type: "keydown" });
    if (stroke !== null) this.letGo(stroke.code);
    return this.take();
  }

  /** The page has the focus again: something else may have been copied on this device meanwhile. */
  focused(): void {
    this.copiedThere = false;
  }

  /** Before the pointer does something: the modifiers that are down here are down there, and no others. */
  pointer(flags: Flags): readonly InputEvent[] {
    this.sendEscape();
    this.agree(flags);
    this.holdModifiers(flags);
    return this.take();
  }

  /** The time for a second Escape is over. */
  escapeAlone(): readonly InputEvent[] {
    this.sendEscape();
    return this.take();
  }

  /** Lets everything go; what waited never was there. */
  releaseAll(): readonly InputEvent[] {
    this.escape = null;
    this.paste = null;
    this.waiting.clear();
    this.unflagged.clear();
    for (const name of new Set([...this.down.values()].reverse())) this.inputs.push({ kind: "release", key: name });
    this.down.clear();
    return this.take();
  }

  private take(): readonly InputEvent[] {
    const inputs = this.inputs;
    this.inputs = [];
    return inputs;
  }

  private press(stroke: KeyStroke): { exit: boolean; taken: boolean } {
    const { code, key, timeStamp } = stroke;
    if (isComposition(stroke)) {
      this.useModifiers();
      return { exit: false, taken: false };
    }
    if (code === "KeyT" && stroke.ctrlKey && stroke.altKey && !stroke.altGraph) return { exit: true, taken: true };
    if (key === "Escape" && modifiersOf(stroke).length === 0) return { exit: this.pressEscape(stroke.repeat, timeStamp), taken: true };
    this.sendEscape();
    if (this.isPaste(stroke)) return { exit: false, taken: this.askForPaste(stroke) };
    this.pressOther(stroke);
    return { exit: false, taken: true };
  }

  /** Whether the keys paste on this device, and the machine's clipboard holds nothing newer. */
  private isPaste({ key, ctrlKey, metaKey, shiftKey, altKey, altGraph }: KeyStroke): boolean {
    const command = this.mac ? metaKey && !ctrlKey : ctrlKey && !metaKey;
    const only = command && !altKey && !altGraph && !shiftKey;
    if (only && /^[cx]$/i.test(key)) this.copiedThere = true;
    return only && !this.copiedThere && key.toLowerCase() === "v";
  }

  /** The browser goes on, and tells in a `paste` event; a repeat of the key pastes no second time. */
  private askForPaste(stroke: KeyStroke): boolean {
    if (stroke.repeat) return true;
    this.useModifiers();
    this.paste = stroke;
    return false;
  }

  private pressOther(stroke: KeyStroke): void {
    const { code, key, altGraph } = stroke;
    const modifier = MODIFIER_KEYS[key];
    if (key === "AltGraph" || (code === "AltRight" && altGraph)) this.forgetControl();
    else if (modifier !== undefined) this.pressModifier(stroke, modifier);
    else this.pressKey(stroke);
  }

  private up(stroke: KeyStroke): { exit: boolean; taken: boolean } {
    const { code, key } = stroke;
    // A browser that tells of no paste leaves the keys to the machine.
    if (this.paste !== null) this.inputs = [...this.pasted("")];
    const modifier = this.waiting.get(code);
    this.waiting.delete(code);
    this.unflagged.delete(code);
    if (this.escape !== null && key === "Escape") this.escape.up = true;
    else if (modifier?.used === false) {
      this.sendEscape();
      this.tap(modifier.name);
    } else this.letGo(key === "Escape" ? "Escape" : code);
    // Some systems tell of this key on its way up only.
    if (key === "PrintScreen" && !this.inputs.some(({ kind }) => kind === "release")) this.tap("printscreen");
    this.agree(stroke);
    return { exit: false, taken: true };
  }

  /** Whether this is the second one in time. */
  private pressEscape(repeat: boolean, at: number): boolean {
    if (repeat) return false;
    if (this.escape !== null && at - this.escape.at < DOUBLE_ESCAPE_MS) {
      this.escape = null;
      return true;
    }
    this.sendEscape();
    this.escape = { at, up: false };
    return false;
  }

  private sendEscape(): void {
    const { escape } = this;
    this.escape = null;
    if (escape === null) return;
    this.hold("Escape", "esc");
    if (escape.up) this.letGo("Escape");
  }

  private pressModifier({ code, key, repeat, altKey }: KeyStroke, name: Modifier): void {
    if (key === KEY_WITHOUT_FLAG) this.unflagged.add(code);
    // Alt after Shift is called Meta under X11.
    const meant = name === "super" && code.startsWith("Alt") && altKey ? "alt" : name;
    if (!repeat && !this.down.has(code)) this.waiting.set(code, { name: meant, used: false });
  }

  /** The Ctrl that Windows puts before AltGr. */
  private forgetControl(): void {
    this.waiting.delete("ControlLeft");
    if (this.down.get("ControlLeft") === "ctrl") this.letGo("ControlLeft");
  }

  private pressKey(stroke: KeyStroke): void {
    const { key, altGraph } = stroke;
    this.agree(stroke);
    const command = !altGraph && (stroke.ctrlKey || stroke.metaKey || this.unflagged.size > 0 || (stroke.altKey && !this.writesByOption(stroke)));
    if (key === " " || !isPrinted(key)) this.pressNamed(stroke, key === " " ? "space" : (canonicalKey(key) ?? canonicalKey(stroke.code)));
    else if (command) this.pressCommand(stroke);
    else this.pressPrinted(stroke);
  }

  /** A character that is meant as itself. */
  private pressPrinted(stroke: KeyStroke): void {
    const { key, shiftKey, altGraph, altKey } = stroke;
    const there = altGraph || altKey ? null : usKey(key);
    if (there?.shift === shiftKey) this.pressNamed(stroke, there.key);
    else this.type(key);
  }

  /** A key under Ctrl, Alt or Meta. */
  private pressCommand(stroke: KeyStroke): void {
    const { key, code, shiftKey } = stroke;
    const there = usKey(key);
    const isLetter = /^[a-z]$/i.test(key);
    if (there === null) this.pressNamed(stroke, canonicalKey(code));
    else if (isLetter || there.shift === shiftKey) this.pressNamed(stroke, there.key);
    else this.withOtherShift(stroke, there.key);
  }

  /** A sign that wants Shift the other way there. */
  private withOtherShift(flags: Flags, key: string): void {
    this.holdModifiers(flags);
    const [before, after] = flags.shiftKey ? (["release", "press"] as const) : (["press", "release"] as const);
    this.inputs.push({ kind: before, key: "shift" });
    this.tap(key);
    this.inputs.push({ kind: after, key: "shift" });
  }

  private pressNamed(stroke: KeyStroke, name: string | null): void {
    if (name === null || LOCKS.has(name)) return;
    this.holdModifiers(stroke);
    // A Mac never tells that a key went up while Meta is down.
    if (stroke.metaKey) this.tap(name);
    else this.hold(stroke.code, name);
  }

  /** Whether Option writes here, as AltGr does elsewhere. */
  private writesByOption({ key, code, shiftKey }: KeyStroke): boolean {
    const plain = plainCharacter(code);
    return this.mac && isPrinted(key) && key !== (shiftKey ? plain?.toUpperCase() : plain);
  }

  /** Text, with the modifiers that the machine holds up meanwhile. */
  private type(text: string): void {
    const held = [...new Set(this.down.values())].filter((name) => MODIFIERS.includes(name));
    this.useModifiers();
    this.inputs.push(...held.toReversed().map((key): InputEvent => ({ kind: "release", key })));
    this.inputs.push({ kind: "type_text", text });
    this.inputs.push(...held.map((key): InputEvent => ({ kind: "press", key })));
  }

  /** Modifiers that helped to write are no keys of their own when they come up. */
  private useModifiers(): void {
    for (const modifier of this.waiting.values()) modifier.used = true;
  }

  private tap(key: string): void {
    this.inputs.push({ kind: "press", key }, { kind: "release", key });
  }

  private hold(code: string, name: string): void {
    if (this.down.get(code) === name) return;
    this.letGo(code);
    if (![...this.down.values()].includes(name)) this.inputs.push({ kind: "press", key: name });
    this.down.set(code, name);
  }

  private letGo(code: string): void {
    const name = this.down.get(code);
    this.down.delete(code);
    if (name !== undefined && ![...this.down.values()].includes(name)) this.inputs.push({ kind: "release", key: name });
  }

  /** Releases modifiers that are up here although no event reported it. */
  private agree(flags: Flags): void {
    const held = modifiersOf(flags);
    const isUp = (code: string, name: string) => !held.includes(name) && !this.unflagged.has(code);
    for (const [code, { name }] of this.waiting) if (isUp(code, name)) this.waiting.delete(code);
    for (const [code, name] of this.down) if (MODIFIERS.includes(name) && isUp(code, name)) this.letGo(code);
  }

  /** Holds the modifiers there that are down here, also those whose key nobody told of. */
  private holdModifiers(flags: Flags): void {
    const held = modifiersOf(flags);
    for (const [code, { name }] of this.waiting) if (held.includes(name) || this.unflagged.has(code)) this.hold(code, name);
    this.waiting.clear();
    for (const name of held) if (![...this.down.values()].includes(name)) this.hold(`held:${name}`, name);
  }
}
