/** Holding keys changes the keys of an action and nothing else. */
import { describe, expect, it } from "vitest";

import type { Action, Step } from "@/generated/vocabulary";

import { heldKeysOf, keysLeftDown, withHeldKeys } from "./held";

const AT = { x: 5, y: 6 };
const ACTIONS: Action[] = [
  { kind: "click", ...AT },
  { kind: "double_click", ...AT },
  { kind: "triple_click", ...AT },
  { kind: "right_click", ...AT },
  { kind: "middle_click", ...AT },
  { kind: "drag", start: AT, end: { x: 9, y: 9 }, button: "middle" },
];

describe("held keys", () => {
  it.each(ACTIONS)("are added to $kind and taken from it again", (action) => {
    const changed = withHeldKeys(action, ["ctrl", "shift"]);
    expect(heldKeysOf(changed)).toEqual(["ctrl", "shift"]);
    expect(withHeldKeys(changed, [])).toEqual(action);
    expect(withHeldKeys(action, [])).toBe(action);
  });

  it("keep the way and the amount of a scroll", () => {
    const scroll: Action = { kind: "scroll", point: AT, direction: "left", amount: 3 };
    expect(withHeldKeys(scroll, ["ctrl"])).toEqual({ kind: "scroll_by", point: AT, dx: -3, dy: 0, unit: "notches", keys: ["ctrl"] });
  });

  it("do not change what can hold none", () => {
    const typed: Action = { kind: "type_text", text: "a" };
    expect(withHeldKeys(typed, ["ctrl"])).toBe(typed);
    expect(heldKeysOf(typed)).toBeNull();
  });

  it("are down from a press to its release, a takeover or a failure", () => {
    const step = (action: Action, failed = false) =>
      ({ action, after: {}, error: failed ? { code: "x", message: "" } : null }) as unknown as Step;
    const press = (key: string) => step({ kind: "press", key });
    expect(keysLeftDown([press("ctrl"), press("shift"), step({ kind: "release", key: "ctrl" })])).toEqual(["shift"]);
    expect(keysLeftDown([press("ctrl"), step({ kind: "gesture", inputs: [] })])).toEqual([]);
    expect(keysLeftDown([press("ctrl"), step({ kind: "click", ...AT }, true)])).toEqual([]);
  });
});
