/** The audit log says in words what was done, and is narrowed by the address. */
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter, useLocation } from "react-router";
import { afterEach, expect, it, vi } from "vitest";

import type { AuditOut, AuditPage, PersonName } from "@/generated/api";
import { I18nProvider } from "@/shared/i18n/i18n";

import { AuditLog } from "./audit-log";

const PEOPLE: PersonName[] = [{ username: "ada", name: "Ada Lovelace" }];
const entry = (id: number, verb: string, subject: string, more: Partial<AuditOut> = {}): AuditOut => ({
  ...{ id, verb, subject, actor: "ada", source: null, subject_name: "", at: "2026-01-01T10:00:00Z", details: "{}" },
  ...more,
});
const ENTRIES = [entry(2, "pool.stopped", "pool:3"), entry(1, "an.older_verb", "graph")];

function Address() {
  return <output aria-label="address">{useLocation().search}</output>;
}

/** Opens the log at an address; the requests that it makes are listed. */
function open(address: string, entries = ENTRIES, next: number | null = null) {
  const requests: string[] = [];
  vi.stubGlobal("fetch", (path: string) => {
    requests.push(path);
    const page: AuditPage = { items: entries, next: path.includes("before=") ? null : next, verbs: ["pool.stopped", "task.changed"] };
    return Promise.resolve(Response.json(path.startsWith("/api/people/names") ? PEOPLE : page));
  });
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <MantineProvider env="test">
        <I18nProvider language="en">
          <MemoryRouter initialEntries={[`/people${address}`]}>
            <AuditLog />
            <Address />
          </MemoryRouter>
        </I18nProvider>
      </MantineProvider>
    </QueryClientProvider>,
  );
  return requests;
}

afterEach(() => vi.unstubAllGlobals());

it("says in words what was done, and takes the person from a choice by name into the address", async () => {
  const requests = open("");
  expect(await screen.findByRole("cell", { name: "Stopped a pool" }, { timeout: 10_000 })).toBeTruthy();
  expect(screen.getByRole("cell", { name: "an.older_verb" })).toBeTruthy();
  expect(screen.getByRole("cell", { name: "Task graph" })).toBeTruthy();
  const user = userEvent.setup();
  await user.click(screen.getByRole("combobox", { name: "Who" }));
  await user.click(await screen.findByRole("option", { name: "Ada Lovelace (ada)" }));
  expect(screen.getByRole("status", { name: "address" }).textContent).toBe("?actor=ada");
  expect(requests.at(-1)).toContain("actor=ada");
});

it("says how who acted came in, which part of the platform acted, and of what kind the object is", async () => {
  open("", [
    entry(5, "quota.set", "quota:pool:*", { source: { kind: "token", name: "nightly" } }),
    entry(4, "machine.watch", "machine:m-17", { source: { kind: "browser", name: "" } }),
    entry(3, "policy.gate_passed", "pool:3", { actor: null, source: { kind: "part", name: "gate" } }),
    entry(2, "user.changed", "user:12", { subject_name: "ben" }),
    entry(1, "quota.set", "quota:user:a:b", { actor: null }),
  ]);
  const cells = await screen.findAllByRole("cell", {}, { timeout: 10_000 });
  const texts = cells.map((cell) => cell.textContent);
  expect(texts).toEqual(expect.arrayContaining(["adaby the access token nightly", "adain a browser", "The platform: gate", "ada", "The platform"]));
  expect(texts).toEqual(expect.arrayContaining(["Quota of each pool", "Machine m-17", "Pool 3", "Person ben", "Quota of the person a:b"]));
});

it("offers to remove the filters where no entry matches, and names who is chosen by the address", async () => {
  open("?actor=ada&kind=pool&id=9", []);
  expect(await screen.findByText("No entry matches")).toBeTruthy();
  expect(await screen.findByDisplayValue("Ada Lovelace (ada)")).toBeTruthy();
  await userEvent.setup().click(screen.getByRole("button", { name: "Remove all filters" }));
  expect(screen.getByRole("status", { name: "address" }).textContent).toBe("");
  expect(await screen.findByText("Nothing is logged yet")).toBeTruthy();
});

it("goes on with older entries where words are in none of the newest", async () => {
  const requests = open("?words=zebra", [], 7);
  expect(await screen.findByText("None of the newest entries matches")).toBeTruthy();
  await userEvent.setup().click(screen.getByRole("button", { name: "Search older entries" }));
  expect(await screen.findByText("No entry matches")).toBeTruthy();
  expect(requests.at(-1)).toContain("words=zebra&before=7");
});
