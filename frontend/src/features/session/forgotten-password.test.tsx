/** Without a mail server, the page says that an admin makes a password link. */
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";

import { I18nProvider } from "@/shared/i18n/i18n";

import { ForgottenPassword } from "./forgotten-password";

afterEach(() => void vi.unstubAllGlobals());

it.each([
  [false, "Ask an admin for a link"],
  [true, "User name or e-mail address"],
])("offers a link by mail where mail is sent (%s)", async (mail, text) => {
  vi.stubGlobal("fetch", () => Promise.resolve(Response.json({ user: null, csrf: "token", sso: "", mail })));
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient()}>
        <I18nProvider language="en">
          <ForgottenPassword />
        </I18nProvider>
      </QueryClientProvider>
    </MantineProvider>,
  );
  await userEvent.setup().click(screen.getByRole("button", { name: "Forgot your password?" }));
  expect(await screen.findByText(new RegExp(text))).toBeTruthy();
});
