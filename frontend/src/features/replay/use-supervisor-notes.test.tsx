/** Supervisors' notes in the replay: with names where this platform has them, else as the trajectory has them. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderHook, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, expect, it, vi } from "vitest";

import type { SupervisorNoteOut } from "@/generated/api";

import { useSupervisorNotes } from "./use-supervisor-notes";

const NOTE = { took_control: false, created_at: "2026-01-02T03:04:05Z" };
const STORED = { ...NOTE, author: "annotator-1", step: 2 };
const NAMED: SupervisorNoteOut = { ...NOTE, text: "Try the menu.", id: 7, author: "Rosa", pseudonym: "annotator-1" };

function open(answer: SupervisorNoteOut[]) {
  vi.stubGlobal("fetch", () => Promise.resolve(Response.json(answer)));
  const client = new QueryClient();
  const wrapper = ({ children }: { children: ReactNode }) => <QueryClientProvider client={client}>{children}</QueryClientProvider>;
  return renderHook(() => useSupervisorNotes({ id: "episode-1", supervisor_notes: [STORED] }), { wrapper }).result;
}

afterEach(() => vi.unstubAllGlobals());

it("shows an imported episode's notes as its trajectory has them", async () => {
  const hook = open([]);
  await waitFor(() => expect(hook.current.notes).toMatchObject([STORED]));
  expect(hook.current.nameOf("annotator-1")).toBeUndefined();
});

it("names their authors where they are known", async () => {
  const hook = open([NAMED]);
  await waitFor(() => expect(hook.current.notes).toEqual([NAMED]));
  expect(hook.current.nameOf("annotator-1")).toBe("Rosa");
});
