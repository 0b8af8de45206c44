/** Which panels a machine has, and which one is open. */
import { describe, expect, it } from "vitest";

import type { Action, Step } from "@/generated/vocabulary";
import { makeEpisodeState, OBSERVATION } from "@/features/annotate/testing/fixtures";

import { currentPanel, availablePanels } from "./panels";

const ALL = ["click", "run_command", "read_file", "run_code", "call_tool"];
const step = (action: Action) => ({ action }) as Step;
const RUN_CODE = step({ kind: "run_code", code: "1", timeout: 60 });
const CLICK = step({ kind: "click", x: 1, y: 1 });

describe("panels", () => {
  it("are those the machine can do something with", () => {
    expect(availablePanels({ capabilities: ["click"] })).toEqual([]);
    expect(availablePanels({ capabilities: ["run_command"] })).toEqual(["terminal", "preview"]);
    expect(availablePanels({ capabilities: ALL })).toEqual(["terminal", "files", "notebook", "tools", "preview"]);
  });

  it("leave the picture all the room until one is opened", () => {
    const episode = makeEpisodeState({ capabilities: ALL, steps: [RUN_CODE] });
    expect(currentPanel({ panel: null, step: 0 }, episode)).toBeNull();
    expect(currentPanel({ panel: "terminal", step: 1 }, episode)).toBe("terminal");
  });

  it("follow the acts, whoever does them, until a person chooses again", () => {
    const before = makeEpisodeState({ capabilities: ALL, steps: [CLICK] });
    const after = makeEpisodeState({ capabilities: ALL, steps: [CLICK, RUN_CODE] });
    expect(currentPanel({ panel: "terminal", step: 1 }, before)).toBe("terminal");
    expect(currentPanel({ panel: "terminal", step: 1 }, after)).toBe("notebook");
    expect(currentPanel({ panel: "terminal", step: 2 }, after)).toBe("terminal");
  });

  it("stand in the picture's place where there is none", () => {
    const observation = { ...OBSERVATION, screenshot: null, width: 0, height: 0 };
    const episode = makeEpisodeState({ capabilities: ["run_command"], observation });
    expect(currentPanel({ panel: null, step: 0 }, episode)).toBe("terminal");
  });
});
