/** Keys sent to a terminal can be read. */
import { describe, expect, it } from "vitest";

import { keystrokes } from "./action-body";

describe("keystrokes", () => {
  it.each([
    ["ls\n", "ls⏎\n"],
    ["\u0003", "^C"],
    ["\u001b[A", "␛[A"],
    ["你好\t", "你好⇥"],
  ])("shows %j", (text, rendered) => expect(keystrokes(text)).toBe(rendered));
});
