/** Programs' messages in the replay: nothing is asked before it is opened, then page by page, and an empty one says so. */
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { ProgramLog } from "@/generated/api";

import { Programs } from "./programs";

function open(total: number) {
  const requests: number[] = [];
  vi.stubGlobal("fetch", (url: string) => {
    const after = Number(new URL(url, "http://here.test").searchParams.get("after"));
    requests.push(after);
    const count = Math.min(100, total - after);
    const messages = Array.from({ length: count }, (_, index) => ({ time_ms: 5, message: `message ${after + index}`, refused: index === 1 }));
    return Promise.resolve(Response.json({ messages, total } satisfies ProgramLog));
  });
  render(
    <QueryClientProvider client={new QueryClient()}>
      <MantineProvider>
        <Programs episodeId="episode-1" />
      </MantineProvider>
    </QueryClientProvider>,
  );
  const summary = () => screen.getByText("Messages of programs");
  return { requests, summary, user: userEvent.setup() };
}

afterEach(() => vi.unstubAllGlobals());

describe("what programs sent", () => {
  it("is asked for when it is opened, and read page by page", async () => {
    const { requests, summary, user } = open(150);
    expect(requests).toEqual([]);
    await user.click(summary());
    expect(await screen.findByText("message 0")).toBeDefined();
    expect(screen.getByText("refused")).toBeDefined();
    expect(screen.getByText("1 to 100 of 150", { exact: false })).toBeDefined();
    await user.click(screen.getByRole("button", { name: "Later" }));
    expect(await screen.findByText("message 149")).toBeDefined();
    expect(screen.getByRole<HTMLButtonElement>("button", { name: "Later" }).disabled).toBe(true);
    expect(requests).toEqual([0, 100]);
  });

  it("says so where there was none", async () => {
    const { summary, user } = open(0);
    await user.click(summary());
    expect(await screen.findByText("No program spoke to this browser")).toBeDefined();
  });
});
