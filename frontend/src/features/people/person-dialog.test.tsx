/** An admin ends somebody's access tokens after saying so twice. */
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";

import type { PersonOut } from "@/generated/api";
import { I18nProvider } from "@/shared/i18n/i18n";

import { PersonDialog } from "./person-dialog";

const ADA: PersonOut = {
  id: 7,
  username: "ada",
  name: "Ada",
  email: "",
  roles: ["annotator"],
  skills: [],
  groups: [],
  active: true,
  two_factor: false,
  last_login: null,
  pseudonym: "a1b2",
};

afterEach(() => void vi.unstubAllGlobals());

it("ends every access token of a person once it is confirmed", async () => {
  const sent: string[] = [];
  vi.stubGlobal(
    "fetch",
    vi.fn((path: string, { method = "GET" }: RequestInit) => {
      if (method !== "GET") sent.push(`${method} ${path}`);
      return Promise.resolve(method === "GET" ? new Response("[]") : new Response(null, { status: 204 }));
    }),
  );
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient()}>
        <I18nProvider language="en">
          <PersonDialog person={ADA} onClose={() => undefined} />
        </I18nProvider>
      </QueryClientProvider>
    </MantineProvider>,
  );
  const user = userEvent.setup();
  await user.click(await screen.findByRole("button", { name: "End access tokens" }));
  const question = await screen.findByRole("dialog", { name: "End access tokens" });
  expect(within(question).getByText(/every access token of Ada/)).toBeTruthy();
  expect(sent).toEqual([]);
  await user.click(within(question).getByRole("button", { name: "End access tokens" }));
  await waitFor(() => expect(sent).toEqual(["DELETE /api/people/7/tokens"]));
});
