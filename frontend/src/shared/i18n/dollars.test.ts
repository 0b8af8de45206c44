import { describe, expect, it } from "vitest";

import { dollars } from "./dollars";

describe("dollars", () => {
  it.each([
    [0, "$0.00"],
    [12.5, "$12.50"],
    [0.5, "$0.50"],
    [0.0421, "$0.042"],
    [0.00006, "$0.00006"],
  ])("says %d as %s", (amount, words) => expect(dollars(amount, "en-US")).toBe(words));
});
