/** Thoughts are selected and changed by keys; what is sent names the revision that was seen. */
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";

import type { SpeechOut, ThoughtOut } from "@/generated/api";
import { CommandsProvider } from "@/shared/commands/commands";

import { speechCommands } from "./commands";
import { speechQuery, useSpeechChange } from "./api";
import { ThoughtEditor } from "./thought-editor";
import { Tracks } from "./tracks";

const thought = (first_word: number, last_word: number, text: string): ThoughtOut => ({
  begin: first_word, end: last_word + 0.5, first_word, last_word, text, role: "plan", relation: "before", steps: [0], written: false, step: 0,
}); // prettier-ignore

const SPEECH: SpeechOut = {
  duration: 9,
  levels: [],
  words: ["I", "open", "it.", "Then", "this."].map((text, at) => ({ begin: at, end: at + 0.5, text })),
  thoughts: [thought(0, 2, "I open it."), thought(3, 4, "Then this.")],
  steps: [{ index: 0, begin: 6, end: 6.1, thought: "", element: "button “Save”" }],
  revision: 7,
  revisions: [],
  may_edit: true,
};

function Editor({ word }: { word: number }) {
  return <ThoughtEditor speech={SPEECH} place={0} word={word} onWord={() => undefined} currentStep={0} change={useSpeechChange("one")} />;
}

function open(word: number) {
  const client = new QueryClient();
  const fetched = vi.fn<typeof fetch>(() => Promise.resolve(Response.json({ ...SPEECH, revision: 8 })));
  vi.stubGlobal("fetch", fetched);
  render(
    <QueryClientProvider client={client}>
      <MantineProvider>
        <CommandsProvider all={Object.values(speechCommands)} keyMap={{}}>
          <Editor word={word} />
        </CommandsProvider>
      </MantineProvider>
    </QueryClientProvider>,
  );
  return { client, sent: () => fetched.mock.calls.map(([, options]) => JSON.parse(options?.body as string) as unknown) };
}

afterEach(() => vi.unstubAllGlobals());

it("splits a thought at the selected word by its key, over the revision that was seen", async () => {
  const { client, sent } = open(1);
  fireEvent.keyDown(document.body, { key: "S", code: "KeyS", shiftKey: true });
  await waitFor(() => expect(sent()).toEqual([{ do: "split", base: 7, thought: 0, word: 1 }]));
  await waitFor(() => expect(client.getQueryData<SpeechOut>(speechQuery("one").queryKey)?.revision).toBe(8));
});

it("offers no split before the first word", () => {
  const { sent } = open(0);
  fireEvent.keyDown(document.body, { key: "S", code: "KeyS", shiftKey: true });
  expect(screen.getByRole<HTMLButtonElement>("button", { name: /Split/ }).disabled).toBe(true);
  expect(sent()).toEqual([]);
});

it("redacts only after a warning", async () => {
  const { sent } = open(2);
  fireEvent.keyDown(document.body, { key: "x", code: "KeyX" });
  const button = await screen.findByRole("button", { name: "Redact this word" });
  expect(sent()).toEqual([]);
  fireEvent.click(button);
  await waitFor(() => expect(sent()).toEqual([{ words: [2] }]));
});

it("names the element that was clicked at its act", () => {
  render(
    <MantineProvider>
      <Tracks speech={SPEECH} steps={[]} zoom={1} now={0} currentStep={0} selected={0} onSeek={() => undefined} onSelect={() => undefined} />
    </MantineProvider>,
  );
  expect(screen.getByRole("button", { name: "Step 1 (button “Save”)" })).toBeTruthy();
});
