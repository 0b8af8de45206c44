/** Pairing shows a code and the command to type; recordings offer what can still be done with them. */
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { afterEach, expect, it, vi } from "vitest";

import type { ComputerOut, RecordedSessionOut } from "@/generated/api";
import { I18nProvider } from "@/shared/i18n/i18n";

import { Computers } from "./computers";
import { Recordings } from "./recordings";

const LATER = "2026-12-01T10:00:00Z";

const RECORDING: RecordedSessionOut = {
  ...{ id: "6d3a1c52-7d0e-4c47-9f0f-4e3c0d7b6a11", pool: "Office", task_key: "", instruction: "Book a table", computer: "Laptop", size: 2_000_000 },
  ...{ state: "waiting", error: "", steps: 12, created_at: LATER, withdrawn_at: null, deleted_at: null, review: "pending" },
  ...{ can_delete: true, can_withdraw: true, learned: [], in_versions: [] },
};

afterEach(() => void vi.unstubAllGlobals());

function show(page: React.ReactNode) {
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient()}>
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
