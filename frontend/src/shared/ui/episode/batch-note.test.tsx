/** What a step of a reply with several actions says of the others. */
import { MantineProvider } from "@mantine/core";
import { render } from "@testing-library/react";
import { describe, expect, it } from "vitest";

import type { Step } from "@/generated/vocabulary";

import { BatchBadge, BatchNote } from "./batch-note";

const textOf = (step: Partial<Step>) => {
  const { container } = render(
    <MantineProvider>
      <BatchBadge batch={step.batch ?? null} />
      <BatchNote step={{ index: 4, batch: null, not_done: [], provider_calls: [], error: null, ...step } as Step} />
    </MantineProvider>,
  );
  return [...container.querySelectorAll("p, span")].map((element) => element.textContent).join(" | ");
};

describe("a step of a reply with several actions", () => {
  it("says its place and which step has the thought", () => {
    expect(textOf({ batch: { index: 2, size: 3 } })).toMatch(/Action 2 of 3.*Of the same reply as step 4/);
    expect(textOf({ batch: { index: 1, size: 3 } })).not.toContain("Of the same reply");
  });

  it("names what was not done, and that a failure was why", () => {
    const notDone: Step["not_done"] = [{ kind: "press_keys", keys: ["enter"] }, { kind: "wait", seconds: 1 }];
    expect(textOf({ batch: { index: 1, size: 3 }, not_done: notDone })).toContain("Not done: Press Enter · Wait 1 s");
    const failed = { code: "invalid_action", message: "There is no field." };
    expect(textOf({ batch: { index: 1, size: 3 }, not_done: notDone, error: failed })).toContain("Not done after this failure: Press Enter");
  });

  it("says nothing of a step of its own", () => {
    expect(textOf({})).toBe("");
  });
});
