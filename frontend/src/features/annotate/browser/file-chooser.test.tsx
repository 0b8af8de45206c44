/** A page asks for files: what there is is listed, choosing is one step, and nothing is there while nobody asks. */
import { screen, within } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";

import type { BrowserPage, FileChooser } from "@/generated/vocabulary";
import { renderWorkspace } from "@/features/annotate/testing/harness";
import { OBSERVATION } from "@/features/annotate/testing/fixtures";

const PAGE = {
  title: "Attach",
  clock: "exact",
  seed: 7,
  time_ms: 0,
  pace: 0,
  score: null,
  level: null,
  done: false,
  truncated: false,
  success: null,
  verifier_error: null,
  description: null,
  tabs: [],
  events: [],
} satisfies Omit<BrowserPage, "chooser">;
const FILES: FileChooser["files"] = [
  { name: "a note.txt", media_type: "text/plain", size: 3 },
  { name: "b.pdf", media_type: "application/pdf", size: 2_048 },
];

const open = (chooser: FileChooser | null, control: "mine" | "other" = "mine") =>
  renderWorkspace(
    {
      thought_required: false,
      capabilities: ["click", "choose_files", "upload_file"],
      observation: { ...OBSERVATION, url: "http://attach.test/", page: { ...PAGE, chooser } },
    },
    control,
  );
const sheet = () => within(screen.getByRole("region", { name: "The page asks for files" }));

beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
});

describe("a page that asks for files", () => {
  it("gets what is chosen, as one step", async () => {
    const { user, commands } = open({ several: true, files: FILES });
    const choose = sheet().getByRole<HTMLButtonElement>("button", { name: "Choose" });
    expect(choose.disabled).toBe(true);
    await user.click(sheet().getByRole("checkbox", { name: /b.pdf/ }));
    await user.click(sheet().getByRole("checkbox", { name: /a note.txt/ }));
    await user.click(choose);
    expect(commands()).toMatchObject([{ type: "act", action: { kind: "choose_files", files: ["b.pdf", "a note.txt"] } }]);
  });

  it("gets one file where it takes one", async () => {
    const { user, commands } = open({ several: false, files: FILES });
    await user.click(sheet().getByRole("checkbox", { name: /b.pdf/ }));
    await user.click(sheet().getByRole("checkbox", { name: /a note.txt/ }));
    await user.click(sheet().getByRole("button", { name: "Choose" }));
    expect(commands()).toMatchObject([{ type: "act", action: { kind: "choose_files", files: ["a note.txt"] } }]);
  });

  it("may get none", async () => {
    const { user, commands } = open({ several: false, files: [] });
    expect(sheet().getByText("There is no file to choose; bring one")).toBeDefined();
    await user.click(sheet().getByRole("button", { name: "Choose none" }));
    expect(commands()).toMatchObject([{ type: "act", action: { kind: "choose_files", files: [] } }]);
  });

  it("is only shown to who looks on, and not at all while nobody asks", () => {
    open({ several: false, files: FILES }, "other");
    expect(sheet().getByRole<HTMLInputElement>("checkbox", { name: /b.pdf/ }).disabled).toBe(true);
  });

  it("has no folder to look at beside it", () => {
    open(null);
    expect(screen.queryByRole("region", { name: "The page asks for files" })).toBeNull();
    expect(screen.queryByRole("tab", { name: "Files" })).toBeNull();
  });
});
