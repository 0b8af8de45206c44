/** What the recipe's form makes of general data and of bounds. */
import { describe, expect, it } from "vitest";

import type { GateTrials } from "@/generated/api";

import { generalPaths, reinforcement, successBounds, valueUpdates, withGeneralPaths, withSuccessBound } from "./recipe-form";

const PLAN = reinforcement({ suite: "drills", size: "", first_seed: 96, parallel: 1 } as GateTrials);

describe("general data", () => {
  const general = { manuals: { kind: "documents", paths: ["/g/a", "/g/b"] }, talks: { kind: "chats", paths: ["/g/c"] } } as const;

  it("is shown by kind, and keeps the names of its sources", () => {
    expect(generalPaths({ ...general } as never, "documents")).toEqual(["/g/a", "/g/b"]);
    expect(withGeneralPaths({ ...general } as never, "documents", ["/g/b", "/g/d"])).toEqual({
      manuals: { kind: "documents", paths: ["/g/b"] },
      talks: { kind: "chats", paths: ["/g/c"] },
      documents: { kind: "documents", paths: ["/g/d"] },
    });
  });

  it("leaves out a source without paths", () => {
    expect(withGeneralPaths({ ...general } as never, "chats", [])).toEqual({ manuals: general.manuals });
  });

  it("adds to the source of the kind's name", () => {
    const made = withGeneralPaths({}, "chats", ["/g/a"]);
    expect(withGeneralPaths(made, "chats", ["/g/a", "/g/b"])).toEqual({ chats: { kind: "chats", paths: ["/g/a", "/g/b"] } });
  });
});

describe("reinforcement", () => {
  it("never has a lower bound above the upper one", () => {
    expect(successBounds(withSuccessBound(PLAN, "from", 0.95))).toEqual([0.95, 0.95]);
    expect(successBounds(withSuccessBound(PLAN, "to", 0.05))).toEqual([0.05, 0.05]);
    expect(successBounds(withSuccessBound(PLAN, "to", 0.7))).toEqual([0.1, 0.7]);
  });

  it("pretrains no critic unless that is said", () => {
    expect(valueUpdates(PLAN)).toBe(0);
    expect(valueUpdates({ ...PLAN, settings: { value_updates: 5 } })).toBe(5);
  });
});
