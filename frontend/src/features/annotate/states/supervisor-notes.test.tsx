/** Notes of supervisors show at the desk; a supervisor who watches can write one, the annotator cannot. */
import { cleanup, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { renderWorkspace } from "@/features/annotate/testing/harness";

const NOTE = { id: 1, author: "Rosa", pseudonym: "annotator-1", text: "Look in Downloads.", took_control: false, created_at: "2026-01-02T03:04:05Z" };
const CONTROL = { ...NOTE, id: 2, text: "", took_control: true };

function serve(roles: readonly string[]) {
  const written: unknown[] = [];
  vi.stubGlobal("fetch", (url: string, options?: RequestInit) => {
    if (url.endsWith("/notes") && options?.method === "POST") {
      written.push(JSON.parse(options.body as string));
      return Promise.resolve(Response.json(NOTE));
    }
    if (url.endsWith("/notes")) return Promise.resolve(Response.json([NOTE, CONTROL]));
    if (url.endsWith("/session")) return Promise.resolve(Response.json({ user: { roles }, csrf_token: "", single_sign_on: null }));
    return Promise.resolve(Response.json({}, { status: 404 }));
  });
  return written;
}

beforeEach(() => localStorage.clear());
afterEach(() => vi.unstubAllGlobals());

it("shows the annotator what supervisors wrote, and that one took control", async () => {
  serve(["annotator"]);
  renderWorkspace({ help_requested: true });
  expect(await screen.findByText("Look in Downloads.", { exact: false })).toBeTruthy();
  expect(screen.getByText("Rosa took control of this task.")).toBeTruthy();
  expect(screen.queryByRole("textbox", { name: "Note for the annotator" })).toBeNull();
});

it("lets a supervisor who watches write a note", async () => {
  const written = serve(["reviewer"]);
  const { user } = renderWorkspace({ help_requested: true }, "other");
  await user.type(await screen.findByRole("textbox", { name: "Note for the annotator" }), "Try the menu.");
  await user.click(screen.getByRole("button", { name: "Send note" }));
  await waitFor(() => expect(written).toEqual([{ text: "Try the menu." }]));
});

it("keeps a note that was not sent over a reload", async () => {
  serve(["reviewer"]);
  const { user } = renderWorkspace({ help_requested: true }, "other");
  await user.type(await screen.findByRole("textbox", { name: "Note for the annotator" }), "Try");
  cleanup();
  renderWorkspace({ help_requested: true }, "other");
  const field = await screen.findByRole<HTMLInputElement>("textbox", { name: "Note for the annotator" });
  expect(field.value).toBe("Try");
});

it("asks for no notes before help is asked for", () => {
  const fetched = vi.fn(() => Promise.resolve(Response.json([])));
  vi.stubGlobal("fetch", fetched);
  renderWorkspace({ help_requested: false });
  expect(fetched.mock.calls.flat().filter((url) => String(url).endsWith("/notes"))).toEqual([]);
});
