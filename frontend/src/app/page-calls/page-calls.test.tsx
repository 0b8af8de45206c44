/** Every page has its API calls, or a reason why it has none. */
import { MantineProvider } from "@mantine/core";
import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { createMemoryRouter, RouterProvider, type RouteObject } from "react-router";
import { describe, expect, it } from "vitest";

import { makeQueryClient } from "@/app/query-client";
import { makeRoutes } from "@/app/routes";
import { I18nProvider } from "@/shared/i18n/i18n";

import { PAGE_CALLS } from "./calls";
import { PageCallsButton } from "./page-calls-button";
import { PAGES_WITHOUT_CALLS } from "./pages-without-calls";

const pagesOf = (list: readonly RouteObject[]): RouteObject[] =>
  list.flatMap((route) => (route.children ? pagesOf(route.children) : [route]));
const PAGES = pagesOf(makeRoutes(makeQueryClient()));

const callsOf = (page: string, search = "", id = "7") => PAGE_CALLS[page]?.({ id, search: new URLSearchParams(search) }) ?? [];
const pathsOf = (...place: Parameters<typeof callsOf>) => callsOf(...place).map(({ method, path }) => `${method} ${path}`);

describe("the calls of pages", () => {
  it.each(PAGES.map(({ id }) => id ?? "a page without an id"))("are there for %s, or a reason is", (id) => {
    expect(callsOf(id).length > 0).toBe(!(id in PAGES_WITHOUT_CALLS));
  });

  it("are of pages that exist", () => {
    const ids = PAGES.map(({ id }) => id);
    expect([...Object.keys(PAGE_CALLS), ...Object.keys(PAGES_WITHOUT_CALLS)].filter((id) => !ids.includes(id))).toEqual([]);
  });

  it("have no two of the same method and path on a page, and no empty query", () => {
    for (const page of Object.keys(PAGE_CALLS)) {
      const paths = pathsOf(page);
      expect(new Set(paths).size).toBe(paths.length);
      expect(paths.filter((path) => path.endsWith("?"))).toEqual([]);
    }
  });

  it("have what the address says in them", () => {
    expect(pathsOf("flywheel/:id")[0]).toBe("GET /turns/7");
    expect(pathsOf("trajectories", "policy=nano+r1")[0]).toBe("GET /trajectories?policy=nano+r1");
    expect(callsOf("exports", "policy=nano").find(({ title }) => title === "exports.call.start")?.body).toMatchObject({
      filters: { review: "accepted", policy: "nano" },
    });
    expect(pathsOf("compare", "one=a&other=b")[0]).toBe("GET /reviews/comparison?one=a&other=b");
    expect(pathsOf("evaluations/:id", "against=3", "run:r")).toContain("GET /evaluations/run:r/against/3");
    expect(pathsOf("evaluations/:id", "", "run:r")).toContain("POST /benchmarks/r/cancel");
  });

  it("open from the bar", async () => {
    const page = { path: "flywheel/:id", id: "flywheel/:id", element: <PageCallsButton /> };
    render(
      <MantineProvider env="test">
        <I18nProvider language="en">
          <RouterProvider router={createMemoryRouter([page], { initialEntries: ["/flywheel/12"] })} />
        </I18nProvider>
      </MantineProvider>,
    );
    await userEvent.setup().click(screen.getByRole("button", { name: "Equivalent API calls" }));
    const call = await screen.findByRole("region", { name: "Read this cycle" });
    expect(within(call).getByText(/client\.call\("GET", "\/turns\/12"\)/)).toBeTruthy();
  });
});
