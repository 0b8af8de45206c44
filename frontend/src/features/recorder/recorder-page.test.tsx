/** Pairing shows a code and the command to type; recordings offer what can still be done with them. */
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { afterEach, expect, it, vi } from "vitest";

import type { ComputerOut, RecordedSessionOut } from "@/generated/api";
import { sessionQuery, type Role } from "@/shared/account/account";
import { I18nProvider } from "@/shared/i18n/i18n";

import { Computers } from "./computers";
import { Recordings } from "./recordings";
import { TermsList } from "./terms-list";

const LATER = "2026-12-01T10:00:00Z";

const RECORDING: RecordedSessionOut = {
  ...{ id: "6d3a1c52-7d0e-4c47-9f0f-4e3c0d7b6a11", pool: "Office", task_key: "", instruction: "Book a table", computer: "Laptop", size: 2_000_000 },
  ...{ state: "waiting", error: "", steps: 12, created_at: LATER, withdrawn_at: null, deleted_at: null, review: "pending" },
  ...{ can_delete: true, can_withdraw: true, learned: [], in_versions: [] },
};

afterEach(() => void vi.unstubAllGlobals());

function show(page: React.ReactNode, roles: Role[] = ["annotator"]) {
  const client = new QueryClient();
  client.setQueryData(sessionQuery.queryKey, { csrf: "", user: { id: 1, username: "annie", name: "Annie", roles } } as never);
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={client}>
        <I18nProvider language="en">
          <MemoryRouter>{page}</MemoryRouter>
        </I18nProvider>
      </QueryClientProvider>
    </MantineProvider>,
  );
}

it("makes a code for a named computer, with the command that takes it", async () => {
  const fetched = vi.fn(() => Promise.resolve(Response.json({ code: "CFHJ-KLMR", expires_at: LATER })));
  vi.stubGlobal("fetch", fetched);
  const waiting: ComputerOut = { id: 1, name: "Laptop", paired_at: null, used_at: null, expires_at: LATER };
  show(<Computers rows={[waiting]} />);
  const user = userEvent.setup();
  await user.type(screen.getByLabelText("Name of the computer"), "Laptop");
  await user.click(screen.getByRole("button", { name: "Make a pairing code" }));
  expect(await screen.findByText(/^pilothouse-recorder pair http.* CFHJ-KLMR$/)).toBeTruthy();
  expect(fetched.mock.calls[0]).toMatchObject(["/api/recorder/computers", { body: '{"name":"Laptop"}' }]);
});

it("names what learned from a withdrawn recording, and offers no second withdrawal", () => {
  const learned = [{ flywheel: "main", cycle: 3, phase: "ct", revision: "" }];
  const withdrawn: RecordedSessionOut = { ...RECORDING, state: "withdrawn", can_delete: false, can_withdraw: false, learned, in_versions: ["office@2"] };
  show(<Recordings rows={[withdrawn, { ...RECORDING, id: "other", instruction: "Buy milk" }]} />);
  expect(screen.getByText("Used in: main, cycle 3, ct, office@2")).toBeTruthy();
  const buttons = screen.getAllByRole("button").map((each) => each.getAttribute("aria-label"));
  expect(buttons).toEqual(["Withdraw consent to Buy milk", "Delete Buy milk"]);
});

it("has a model write of the chosen recordings, and lists what failed", async () => {
  const batch = {
    ...{ id: "b1", kind: "enriched", model: "writer 1", status: "done", error: "", total: 2, done: 1, failed: 1, left_out: 0 },
    ...{ requested_by: "Annie", created_at: LATER, finished_at: LATER },
  };
  const sessions = [{ episode: "other", instruction: "Buy milk", status: "failed", total: 4, done: 2, error: "policy_unavailable: gone" }];
  const answers: Record<string, unknown> = {
    "/api/reviews/batches": { batches: [batch], models: [{ id: 7, label: "writer 1" }] },
    "/api/reviews/batches/b1": { ...batch, sessions },
  };
  const fetched = vi.fn<typeof fetch>((path) => Promise.resolve(Response.json(answers[path as string])));
  vi.stubGlobal("fetch", fetched);
  show(<Recordings rows={[RECORDING, { ...RECORDING, id: "other", instruction: "Buy milk" }]} />, ["annotator", "reviewer"]);
  const user = userEvent.setup();
  await user.click(screen.getByRole("checkbox", { name: "Choose Book a table" }));
  await user.click(screen.getByRole("button", { name: "Refine sessions…" }));
  expect(await screen.findByText("1 session is chosen.")).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "2 sessions" }));
  expect(await screen.findByText(/policy_unavailable: gone/)).toBeTruthy();
  await user.click(screen.getByRole("combobox", { name: "Model" }));
  await user.click(await screen.findByText("writer 1", { selector: "span" }));
  await user.click(screen.getByRole("button", { name: "Start" }));
  const sent = fetched.mock.calls.filter(([, options]) => options?.method === "POST");
  expect(sent.map(([path, options]) => [path, JSON.parse(options?.body as string) as unknown])).toEqual([
    ["/api/reviews/batches", { kind: "refinement", policy: 7, episodes: [RECORDING.id] }],
  ]);
});

it("asks for a pool's own terms", async () => {
  const fetched = vi.fn<typeof fetch>(() => Promise.resolve(new Response(null, { status: 204 })));
  vi.stubGlobal("fetch", fetched);
  show(<TermsList terms={[{ pool: 3, name: "Office", version: 2, text: "Be **kind**." }]} />);
  const user = userEvent.setup();
  await user.click(screen.getByRole("button", { name: "Read the terms of Office" }));
  expect(await screen.findByText("kind")).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "I agree" }));
  expect(fetched.mock.calls[0]).toMatchObject(["/api/pools/3/consent", { method: "POST", body: '{"version":2}' }]);
});
