/** The workspace's reducer keeps the same law as the server's: each case was written by the Python tests. */
import { describe, expect, it } from "vitest";

import type { DurableEvent, EpisodeState, Event } from "@/generated/vocabulary";

import { applyEvent, applySnapshot, viewOf } from "./reducer";

interface Case {
  readonly before: EpisodeState;
  readonly event: DurableEvent;
  readonly after: EpisodeState;
}

const cases = import.meta.glob<Case>("../../../tests/fixtures/episodes/*.json", { eager: true, import: "default" });
const first = Object.values(cases)[0];
if (first === undefined) throw new Error("the fixtures are missing");

describe("a durable event applied to the old state equals the new state", () => {
  it.each(Object.entries(cases))("%s", (_name, { before, event, after }) => {
    expect(applyEvent(viewOf(before), event)?.episode).toEqual(after);
  });
});

describe("versions", () => {
  const { before, event, after } = first;

  it("ignores an event it has applied already", () => {
    const view = viewOf(after);
    expect(applyEvent(view, event)).toBe(view);
  });

  it("asks for the snapshot when an event is missing, and changes nothing else", () => {
    const view = applyEvent(viewOf(before), { ...event, version: before.version + 2 });
    expect(view?.gap).toBe(true);
    expect(view?.episode).toBe(before);
  });

  it("asks for the snapshot when a pong tells of a later version", () => {
    expect(applyEvent(viewOf(before), { type: "pong", at: 0, version: before.version + 1 })?.gap).toBe(true);
  });

  it("closes the gap with a newer snapshot and keeps what it knows before an older one", () => {
    const gapped = { ...viewOf(before), gap: true };
    expect(applySnapshot(gapped, after, "mine")).toMatchObject({ gap: false, control: "mine", episode: after });
    expect(applySnapshot(viewOf(after), before, "mine").episode).toBe(after);
  });

  it("keeps no events from before the first snapshot", () => {
    expect(applyEvent(null, event)).toBeNull();
  });
});

describe("events without a version", () => {
  it("shows what is being generated until the candidates are ready", () => {
    const thinking: Event = {
      type: "proposals.thinking", policy: null,
      thinking: "streaming",
      partials: [{ index: 0, text: "The file" }],
      message: "",
      code: "",
    };
    const view = applyEvent(viewOf(first.before), thinking);
    expect(view?.partials).toHaveLength(1);
    expect(view?.episode.thinking).toBe("streaming");
  });

  it("knows that the disk is full until the step is stored", () => {
    const view = applyEvent(viewOf(first.before), { type: "storage.changed", full: true });
    expect(view?.storageFull).toBe(true);
    expect(applyEvent(view, { type: "storage.changed", full: false })?.storageFull).toBe(false);
    expect(applySnapshot(view, { ...first.before, pending: null }, "mine").storageFull).toBe(false);
  });

  it("knows who holds control", () => {
    const view = applyEvent(viewOf(first.before), { type: "control.changed", control: "other", holder: "Ada" });
    expect(view).toMatchObject({ control: "other", holder: "Ada" });
  });
});
