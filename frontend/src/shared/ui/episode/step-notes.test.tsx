/** What is words of a step beside its action and thought. */
import { MantineProvider } from "@mantine/core";
import { render } from "@testing-library/react";
import { describe, expect, it } from "vitest";

import type { Step } from "@/generated/vocabulary";

import { StepNotes } from "./step-notes";

const textOf = (step: Partial<Step>) =>
  render(<MantineProvider><StepNotes step={{ decision: "accept", thought: "Why", after: null, ...step } as Step} /></MantineProvider>).container.textContent;

describe("what a step tells", () => {
  it("shows what the clipboard gave, and what it took", () => {
    const after = { text: "from the machine" } as Step["after"];
    expect(textOf({ action: { kind: "get_clipboard" }, after })).toContain("from the machine");
    expect(textOf({ action: { kind: "set_clipboard", text: "from outside" } })).toContain("from outside");
    expect(textOf({ action: { kind: "get_clipboard" }, after: { text: "" } as Step["after"] })).toContain("empty");
  });

  it("says that a person's thought is missing, and nothing of a policy's", () => {
    const action = { kind: "click", x: 1, y: 2 } as const;
    expect(textOf({ action, decision: "override", thought: "" })).toContain("No thought");
    expect(textOf({ action, decision: "auto", thought: "" })).not.toContain("No thought");
    expect(textOf({ action, decision: "override" })).not.toContain("No thought");
  });

  it("says that a required thought is owed, and that it was written later", () => {
    const action = { kind: "click", x: 1, y: 2 } as const;
    expect(textOf({ action, decision: "override", thought: "", thought_timing: "owed" })).toContain("Thought to be written");
    expect(textOf({ action, decision: "override", thought_timing: "later" })).toContain("Thought written later");
    expect(textOf({ action, decision: "override", continued_characters: 12 })).toContain("12 characters taken from suggestions");
  });

  it("says that a supervisor decided, with the name where it is known", () => {
    const step = { action: { kind: "wait", seconds: 1 }, decision: "override", thought: "Why", after: null, acted_by: "annotator-1" } as Step;
    const show = (supervisor?: string) => render(<MantineProvider><StepNotes step={step} supervisor={supervisor} /></MantineProvider>).container.textContent;
    expect(show()).toContain("Done by a supervisor");
    expect(show("Rosa")).toContain("Done by supervisor Rosa");
  });

  it("lists the inputs of a takeover", () => {
    const inputs = [{ at_ms: 0, input: { kind: "press", key: "a" } }, { at_ms: 1_500, input: { kind: "type_text", text: "é" } }] as const;
    const words = textOf({ action: { kind: "gesture", inputs: [...inputs] }, decision: "takeover" });
    expect(words).toContain("2 inputs");
    expect(words).toContain("é");
  });
});
