/** Key presses on several layouts, and the combinations they stand for. */
import { describe, expect, it } from "vitest";

import { combinationsOf, labelsOf, type KeyPress } from "./keys";

const press = (key: string, code: string, held: Partial<KeyPress> = {}): KeyPress => ({
  key,
  code,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...held,
});

describe("combinationsOf", () => {
  it.each([
    ["a letter", press("n", "KeyN"), ["N"]],
    ["a letter with Shift", press("N", "KeyN", { shiftKey: true }), ["Shift+N"]],
    ["a letter with Caps Lock", press("N", "KeyN"), ["N"]],
    ["a named key", press("Enter", "Enter", { shiftKey: true }), ["Shift+Enter"]],
    ["the space bar", press(" ", "Space"), ["Space"]],
    ["Ctrl", press("k", "KeyK", { ctrlKey: true }), ["Mod+K"]],
    ["a digit", press("1", "Digit1"), ["1"]],
    ["a digit of the number pad", press("1", "Numpad1"), ["1"]],
  ])("reads %s", (_, event, expected) => {
    expect(combinationsOf(event, false)).toEqual(expected);
  });

  it("takes letters from where they are printed", () => {
    expect(combinationsOf(press("a", "KeyQ"), false)[0]).toBe("A");
  });

  it("finds digits on a keyboard that prints signs on them", () => {
    expect(combinationsOf(press("&", "Digit1"), false)).toContain("1");
  });

  it("finds letters on a keyboard that prints another script", () => {
    expect(combinationsOf(press("т", "KeyN"), false)).toContain("N");
  });

  it("reads a sign the same, whichever keys make it", () => {
    expect(combinationsOf(press("?", "Slash", { shiftKey: true }), false)).toContain("?");
    expect(combinationsOf(press("?", "Comma", { shiftKey: true }), false)).toContain("?");
    expect(combinationsOf(press("/", "Digit7", { shiftKey: true }), false)[0]).toBe("/");
  });

  it("takes what AltGr writes as text, not as a combination", () => {
    const event = press("@", "KeyQ", { ctrlKey: true, altKey: true, getModifierState: (name) => name === "AltGraph" });
    expect(combinationsOf(event, false)[0]).toBe("@");
  });

  it("means ⌘ by Mod on a Mac", () => {
    expect(combinationsOf(press("k", "KeyK", { metaKey: true }), true)).toEqual(["Mod+K"]);
    expect(combinationsOf(press("k", "KeyK", { ctrlKey: true }), true)).toEqual(["K"]);
  });

  it.each(["Shift", "Control", "Process", "Dead"])("is nothing for %s alone", (key) => {
    expect(combinationsOf(press(key, ""), false)).toEqual([]);
  });
});

describe("labelsOf", () => {
  it("shows what is printed on the keys", () => {
    expect(labelsOf("Mod+Shift+K", false)).toEqual(["Ctrl", "Shift", "K"]);
    expect(labelsOf("Mod+Shift+K", true)).toEqual(["⌘", "⇧", "K"]);
    expect(labelsOf("ArrowLeft", false)).toEqual(["←"]);
    expect(labelsOf("+", false)).toEqual(["+"]);
  });
});
