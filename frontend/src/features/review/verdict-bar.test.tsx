/** A comment on a step belongs to its round, and is forgotten only where it is the one that was saved. */
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type { ReviewDetails } from "@/generated/api";
import type { Step } from "@/generated/vocabulary";
import { browserDraftStore } from "@/session/drafts";
import { CommandsProvider } from "@/shared/commands/commands";

import { useChange } from "./api";
import { reviewCommands, verdictCommands } from "./commands";
import { VerdictBar } from "./verdict-bar";

const detailsOf = (round: number) => ({ episode: { id: "episode-1" }, round, remarks: [] }) as unknown as ReviewDetails;

function Bar({ round }: { round: number }) {
  const change = useChange("episode-1");
  return <VerdictBar details={detailsOf(round)} drafts={browserDraftStore(1)} step={{ index: 2 } as Step} change={change} onAdvance={() => undefined} onCorrect={() => undefined} />;
}

function open(round: number) {
  cleanup();
  render(
    <QueryClientProvider client={new QueryClient()}>
      <MantineProvider>
        <CommandsProvider all={[...Object.values(reviewCommands), ...Object.values(verdictCommands)]} keyMap={{}}>
          <Bar round={round} />
        </CommandsProvider>
      </MantineProvider>
    </QueryClientProvider>,
  );
  return screen.getByRole<HTMLTextAreaElement>("textbox", { name: /Comment/ });
}

beforeEach(() => localStorage.clear());
afterEach(() => vi.unstubAllGlobals());

it("does not bring a comment that was not sent into the next round", () => {
  fireEvent.change(open(1), { target: { value: "Too far" } });
  expect(open(1).value).toBe("Too far");
  expect(open(2).value).toBe("");
});

it("keeps what is written while a comment is saved", async () => {
  let answer: (response: Response) => void = () => undefined;
  const answered = new Promise<Response>((resolve) => (answer = resolve));
  const fetched = vi.fn(() => answered);
  vi.stubGlobal("fetch", fetched);
  const field = open(1);
  fireEvent.change(field, { target: { value: "Too far" } });
  fireEvent.blur(field);
  await waitFor(() => expect(fetched).toHaveBeenCalled());
  fireEvent.change(field, { target: { value: "Too far to the left" } });
  await act(async () => {
    answer(Response.json({}));
    await answered;
  });
  expect(field.value).toBe("Too far to the left");
  expect(open(1).value).toBe("Too far to the left");
});
