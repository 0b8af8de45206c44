/** Variants stand behind their thought: one is chosen without a sentence that nobody said, or rejected. */
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";

import type { VariantOut, VariantsOut } from "@/generated/api";
import { sessionQuery, type Role } from "@/shared/account/account";

import { VariantsPanel } from "./variants-panel";

const VARIANT: VariantOut = {
  ...{ id: 5, kind: "enriched", index: 1, thought: 0, dropped: [], status: "proposed", problem: "", model: "writer 1", prompt_sha256: "" },
  sentences: [
    { text: "The mail is in front.", support: "added" },
    { text: "I open it.", support: "verbatim" },
  ],
  ...{ created_at: "2026-12-01T10:00:00Z", decided_by: "" },
};
const ABSTAINED: VariantOut = { ...VARIANT, id: 6, kind: "diversified", sentences: [], status: "abstained", problem: "left out: 42" };
const VARIANTS: VariantsOut = { jobs: [], models: [{ id: 7, label: "writer 1" }], variants: [VARIANT, ABSTAINED, { ...VARIANT, id: 9, thought: 1 }] };

afterEach(() => vi.unstubAllGlobals());

function open(role: Role, place = 0) {
  const client = new QueryClient();
  client.setQueryData(sessionQuery.queryKey, { csrf: "", user: { id: 1, username: "rosa", name: "Rosa", roles: [role] } } as never);
  const fetched = vi.fn<typeof fetch>(() => Promise.resolve(Response.json(VARIANTS)));
  vi.stubGlobal("fetch", fetched);
  render(
    <QueryClientProvider client={client}>
      <MantineProvider env="test">
        <VariantsPanel episodeId="one" mayEdit place={place} revision={0} />
      </MantineProvider>
    </QueryClientProvider>,
  );
  const sent = () => fetched.mock.calls.filter(([, options]) => options?.method === "POST").map(([path, options]) => [path, JSON.parse(options?.body as string) as unknown]);
  return { fetched, sent };
}

it("chooses a variant, and leaves an added sentence out", async () => {
  const { sent } = open("reviewer");
  fireEvent.click(await screen.findByLabelText("The mail is in front."));
  await waitFor(() => expect(sent()).toEqual([["/api/episodes/one/review/variants/decisions", { decisions: [{ variant: 5, status: "proposed", dropped: [0] }] }]]));
  fireEvent.click(await screen.findByRole("button", { name: "Choose: Enriched 1" }));
  await waitFor(() => expect(sent()[1]).toEqual(["/api/episodes/one/review/variants/decisions", { decisions: [{ variant: 5, status: "chosen", dropped: [] }] }]));
});

it("says why there is none, and offers nothing to decide there", async () => {
  open("reviewer");
  expect(await screen.findByText("The model wrote none that keeps the facts (left out: 42).")).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Choose: Other wording 1" })).toBeNull();
});

it("chooses all of the session that are not decided", async () => {
  const { sent } = open("researcher", 1);
  fireEvent.click(await screen.findByRole("button", { name: "Choose all 2 that are not decided" }));
  await waitFor(() => expect(sent()).toHaveLength(1));
  expect(sent()[0]?.[1]).toEqual({ decisions: [5, 9].map((variant) => ({ variant, status: "chosen", dropped: [] })) });
});

it("is nothing for annotators", () => {
  const { fetched } = open("annotator");
  expect(fetched).not.toHaveBeenCalled();
});
