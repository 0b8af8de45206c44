/** Every character that is typed here appears there, once, whatever the layout, the browser and the input method. */
import { describe, expect, it } from "vitest";

import type { InputEvent } from "@/generated/vocabulary";
import { KEYBOARD_CASES, type KeyboardCase } from "@/features/annotate/testing/keyboard-cases";

import { committedText, DOUBLE_ESCAPE_MS, TakeoverKeys, type KeyStroke } from "./takeover-keys";

const MODIFIERS = ["ctrl", "alt", "shift", "super"];
const SHIFTED: Readonly<Record<string, string>> = Object.fromEntries(
  Array.from('~!@#$%^&*()_+{}|:"<>?', (sign, index) => ["`1234567890-=[]\\;',./"[index] ?? "", sign]),
);

/** A machine with a US keyboard: what its programs see. */
class UsMachine {
  seen = "";
  readonly down = new Set<string>();
  private lone: string | null = null;

  do(input: InputEvent): void {
    if (input.kind === "type_text") this.seen += this.modifiers().length > 0 ? `[${input.text} under ${this.modifiers().join("+")}]` : input.text;
    else if (input.kind === "press") this.press(input.key);
    else if (input.kind === "release") this.release(input.key);
  }

  click(): void {
    this.see("◦", "◦");
  }

  private press(key: string): void {
    if (this.down.has(key)) this.seen += `[${key} is down]`;
    this.down.add(key);
    this.lone = MODIFIERS.includes(key) ? key : null;
    if (MODIFIERS.includes(key)) return;
    const shift = this.down.has("shift");
    this.see(key, key.length > 1 ? null : shift ? (SHIFTED[key] ?? key.toUpperCase()) : key);
  }

  private release(key: string): void {
    if (!this.down.delete(key)) this.seen += `[${key} is up]`;
    if (this.lone === key && key !== "shift") this.seen += `<${key}>`;
    this.lone = null;
  }

  private see(key: string, printed: string | null): void {
    const held = this.modifiers();
    const plain = held.every((name) => name === "shift");
    this.seen += printed !== null && plain ? printed : `<${[...held, key].join("+")}>`;
    this.lone = null;
  }

  private modifiers(): string[] {
    return MODIFIERS.filter((name) => this.down.has(name));
  }
}

function strokeOf(word: string, timeStamp: number): KeyStroke {
  const [, sign, code = "", key = "", flags = ""] = /^([+-])(\w*)=(.+?)(?:\/([a-z]+))?$/u.exec(word) ?? [];
  const has = (flag: string) => flags.includes(flag);
  return {
    type: sign === "-" ? "keyup" : "keydown",
    code,
    key: key === "␠" ? " " : key,
    keyCode: has("p") ? 229 : 0,
    repeat: has("r"),
    isComposing: has("i"),
    ctrlKey: has("c"),
    shiftKey: has("s"),
    altKey: has("a"),
    metaKey: has("m"),
    altGraph: has("g"),
    timeStamp,
  };
}

function flagsOf(word: string) {
  const flags = word.split("/")[1] ?? "";
  return { ctrlKey: flags.includes("c"), shiftKey: flags.includes("s"), altKey: flags.includes("a"), metaKey: flags.includes("m") };
}

/** What the machine saw of the events, and what it still holds after the takeover. */
function play({ events, mac = false }: KeyboardCase): { seen: string; held: string[] } {
  const keys = new TakeoverKeys(mac);
  const machine = new UsMachine();
  const send = (inputs: readonly InputEvent[]) => inputs.forEach((input) => machine.do(input));
  events.split(" ").forEach((word, index) => {
    if (word === "wait") send(keys.escapeAlone());
    else if (word === "blur") send(keys.releaseAll());
    else if (word.startsWith("click")) {
      send(keys.pointer(flagsOf(word)));
      machine.click();
    } else if (word.startsWith("commit:")) send(keys.text(committedText({ type: "compositionend", data: word.slice(7) })));
    else if (word.startsWith("paste:")) send(keys.pasted(word.slice(6).replaceAll("␠", " ").replaceAll("⏎", "\r\n")));
    else if (word === "focus") keys.focused();
    else if (word.startsWith("insert:")) send(keys.text(committedText({ type: "input", inputType: "insertText", data: word.slice(7) })));
    else {
      const { inputs, exit } = keys.keyboard(strokeOf(word, index * 10));
      send(inputs);
      if (exit) machine.seen += "EXIT";
    }
  });
  send(keys.releaseAll());
  return { seen: machine.seen, held: [...machine.down] };
}

// `./pilothouse bench desk` counts the cases of this group by its name.
describe("keys during a takeover, by keyboard", () => {
  it.each(KEYBOARD_CASES)("$name", (one) => {
    expect(play(one)).toEqual({ seen: one.expected, held: [] });
  });
});

describe("keys during a takeover", () => {
  it("knows no case twice", () => {
    expect(new Set(KEYBOARD_CASES.map(({ name }) => name)).size).toBe(KEYBOARD_CASES.length);
  });

  it("leaves keys to an input method, and takes all others", () => {
    const keys = new TakeoverKeys(false);
    expect(keys.keyboard(strokeOf("+KeyN=Process/p", 0)).taken).toBe(false);
    expect(keys.keyboard(strokeOf("+Quote=Dead", 1)).taken).toBe(false);
    expect(keys.keyboard(strokeOf("+KeyN=n", 2)).taken).toBe(true);
  });

  it("takes two slow Escapes for two", () => {
    const keys = new TakeoverKeys(false);
    keys.keyboard(strokeOf("+Escape=Escape", 0));
    keys.keyboard(strokeOf("-Escape=Escape", 1));
    expect(keys.escapeWaits).toBe(true);
    const { exit, inputs } = keys.keyboard(strokeOf("+Escape=Escape", DOUBLE_ESCAPE_MS + 1));
    expect(exit).toBe(false);
    expect(inputs).toEqual([{ kind: "press", key: "esc" }, { kind: "release", key: "esc" }]);
  });

  it("counts what a composition is still writing once it is committed", () => {
    expect(committedText({ type: "input", inputType: "insertCompositionText", data: "ni" })).toBe("");
    expect(committedText({ type: "compositionend", data: "你" })).toBe("你");
  });
});

describe("a long text that is pasted", () => {
  it("comes in pieces that the server takes", () => {
    const text = "😀".repeat(25_000);
    const inputs = new TakeoverKeys(false).pasted(text);
    expect(inputs.map((input) => (input.kind === "type_text" ? Array.from(input.text).length : 0))).toEqual([20_000, 5_000]);
  });
});
