/** A workspace over a session with a fake wire, for tests of what a person does in it. */
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, render } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState, useSyncExternalStore } from "react";
import { MemoryRouter } from "react-router";
import { onTestFinished } from "vitest";

import type { Command, EpisodeState, Event } from "@/generated/vocabulary";
import { browserDraftStore } from "@/session/drafts";
import { Session } from "@/session/session";
import type { Wire } from "@/session/socket";
import { CommandsProvider } from "@/shared/commands/commands";
import { TopBarProvider } from "@/shared/ui/top-bar";

import { workspaceCommands } from "@/features/annotate/commands";
import { AnnotationWorkspace } from "@/features/annotate/workspace/workspace";
import { makeEpisodeState } from "./fixtures";

/** A server that only listens, and answers pings. */
function server() {
  const sent: Command[] = [];
  const wire: Wire = {
    onopen: null,
    onmessage: null,
    onclose: null,
    send: (text) => {
      const command = JSON.parse(text) as Command;
      sent.push(command);
      if (command.type === "ping") queueMicrotask(() => say({ type: "pong", at: command.at, version: 0 }));
    },
    close: () => undefined,
  };
  const say = (event: Event) => act(() => wire.onmessage?.({ data: JSON.stringify(event) }));
  return {
    wire,
    commands: () => sent.filter(({ type }) => type !== "ping" && type !== "continue"),
    questions: () => sent.filter((command) => command.type === "continue"),
    say,
  };
}

function Page({ session }: { session: Session }) {
  const state = useSyncExternalStore(session.subscribe, session.getState);
  const [drafts] = useState(() => browserDraftStore(1));
  return state.view && <AnnotationWorkspace live={{ ...state, session, drafts }} view={state.view} />;
}

/** Renders the workspace of an episode with these changes. `commands` reads what it sends, `questions` what it asks by itself for a continuation, `say` sends it an event. */
export function renderWorkspace(changed: Partial<EpisodeState> = {}, control: "mine" | "other" = "mine", actsAs: string | null = null) {
  const { wire, commands, questions, say } = server();
  const drafts = browserDraftStore(1);
  const session = new Session({ episodeId: "episode-1", url: "/ws", open: () => wire, fetchSnapshot: () => new Promise(() => undefined), drafts });
  onTestFinished(session.start());
  render(
    <QueryClientProvider client={new QueryClient()}>
      <MantineProvider>
        <MemoryRouter>
          <CommandsProvider all={workspaceCommands} keyMap={{}}>
            <TopBarProvider>
              <Page session={session} />
            </TopBarProvider>
          </CommandsProvider>
        </MemoryRouter>
      </MantineProvider>
    </QueryClientProvider>,
  );
  act(() => wire.onopen?.());
  say({ type: "snapshot", state: makeEpisodeState(changed), control, acts_as: actsAs });
  return { commands, questions, say, user: userEvent.setup() };
}
