/** A model that rewords instructions is deleted after a question; another one is chosen then. */
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";

import type { PlacedTask } from "@/generated/api";
import { I18nProvider } from "@/shared/i18n/i18n";

import { Wordings } from "./wordings";

const TASK = { id: 3, writing: null } as PlacedTask;
const WRITERS = [
  { id: 1, name: "words 1" },
  { id: 2, name: "words 2" },
];

afterEach(() => void vi.unstubAllGlobals());

it("deletes the chosen model once it is confirmed", async () => {
  const sent: string[] = [];
  vi.stubGlobal(
    "fetch",
    vi.fn((path: string, { method = "GET" }: RequestInit) => {
      sent.push(`${method} ${path}`);
      return Promise.resolve(new Response(null, { status: 204 }));
    }),
  );
  const page = (writers: typeof WRITERS) => (
    <MantineProvider env="test">
      <QueryClientProvider client={client}>
        <I18nProvider language="en">
          <Wordings task={TASK} writers={writers} />
        </I18nProvider>
      </QueryClientProvider>
    </MantineProvider>
  );
  const client = new QueryClient();
  const { rerender } = render(page(WRITERS));
  const user = userEvent.setup();
  await user.click(screen.getByRole("button", { name: "Delete this model" }));
  const question = await screen.findByRole("dialog", { name: "Delete this model" });
  expect(within(question).getByText(/words 1 can no longer be chosen/)).toBeTruthy();
  await user.click(within(question).getByRole("button", { name: "Delete this model" }));
  await waitFor(() => expect(sent).toEqual(["DELETE /api/design/writers/1"]));
  rerender(page(WRITERS.slice(1)));
  expect(screen.getByRole<HTMLInputElement>("combobox", { name: "Model" }).value).toBe("words 2");
});
