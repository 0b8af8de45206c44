/** After an upgrade, a page that is opened from an old one is reloaded once, and says what happened if that did not help. */
import { MantineProvider } from "@mantine/core";
import { render, screen, waitFor } from "@testing-library/react";
import { createMemoryRouter, RouterProvider } from "react-router";
import { beforeEach, describe, expect, it, vi } from "vitest";

import { I18nProvider } from "@/shared/i18n/i18n";

import { PageError } from "./error-pages";
import { reloadOnce, watchPartFailures } from "./stale-pages";

function open(error: Error) {
  const routes = [{ path: "/", errorElement: <PageError />, lazy: () => Promise.reject(error) }];
  render(
    <MantineProvider>
      <I18nProvider language="en">
        <RouterProvider router={createMemoryRouter(routes)} />
      </I18nProvider>
    </MantineProvider>,
  );
}

describe("a part of the page that cannot be loaded", () => {
  beforeEach(() => sessionStorage.clear());

  it("reloads the page, and not again at once", () => {
    const place = { reload: vi.fn() };
    expect([100_000, 101_000, 140_000].map((now) => reloadOnce(place, now))).toEqual([true, false, true]);
    expect(place.reload).toHaveBeenCalledTimes(2);
  });

  it("says why, where the reload did not help", async () => {
    watchPartFailures();
    const error = new TypeError("Failed to fetch dynamically imported module: http://here/assets/reports.js");
    window.dispatchEvent(Object.assign(new Event("vite:preloadError"), { payload: error }));
    reloadOnce({ reload: vi.fn() });
    open(error);
    expect(await screen.findByText(/This page could not be loaded/)).toBeTruthy();
    expect(screen.queryByText(/dynamically imported/)).toBeNull();
  });

  it("shows any other error as it is", async () => {
    open(new Error("The attempt is broken."));
    await waitFor(() => expect(screen.getByText("The attempt is broken.")).toBeTruthy());
  });
});
