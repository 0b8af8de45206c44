/** The desk's model: what is shown, what is being composed, and everything a person can do. */
import { createContext, use, useCallback, useMemo, useRef, useState, type RefObject } from "react";
import { useLocalStorage } from "@mantine/hooks";

import type { Action, EpisodeState, Mark, Proposal } from "@/generated/vocabulary";
import { EMPTY_DRAFT, type Draft } from "@/session/drafts";
import type { EpisodeView } from "@/session/reducer";
import type { Body } from "@/session/session";
import type { LiveSession } from "@/session/use-session";

import { acceptOf, compose, fromProposal, withAction, type Choice, type Composed } from "./composer";
import { TOGETHER_WITHIN } from "./stage/gestures";
import { useDraft } from "./use-draft";

export type Mode = "point" | "type" | "hotkey";
export type Dialog = "finish" | "infeasible" | "help" | "leave" | "clipboard" | "takeover";

/** The command line as others reach it: pointing writes coordinates where its caret stands. */
export interface CommandLine {
  focus(): void;
  /** Writes a point at the caret; false where the caret is in no coordinate, or elsewhere. */
  takePoint(pixel: { x: number; y: number }): boolean;
}

export interface Desk extends LiveSession {
  readonly view: EpisodeView;
  readonly episode: EpisodeState;
  readonly draft: Draft;
  readonly composed: Composed;
  /** The action being composed, also while its thought is missing. */
  readonly drafted: Action | null;
  /** Whether this page may act now. */
  readonly mine: boolean;
  readonly mode: Mode;
  readonly dialog: Dialog | null;
  /** The step looked at; null for the present. */
  readonly looking: number | null;
  readonly hovered: string | null;
  /** Gestures are sent at once. */
  readonly direct: boolean;
  readonly stage: RefObject<HTMLDivElement | null>;
  readonly thought: RefObject<HTMLTextAreaElement | null>;
  readonly line: RefObject<CommandLine | null>;
  setDraft(draft: Draft): void;
  setMode(mode: Mode): void;
  setDialog(dialog: Dialog | null): void;
  look(index: number | null): void;
  hover(proposalId: string | null): void;
  toggleDirect(): void;
  send(body: Body): void;
  /** An action that was pointed, typed or captured; `final` is false while it may still grow. */
  propose(action: Action, final: boolean): void;
  /** The same, and done at once if its thought allows. */
  perform(action: Action): void;
  doIt(): void;
  accept(proposal: Proposal | undefined): void;
  edit(proposal: Proposal | undefined): void;
  mark(proposal: Proposal | undefined, mark: Mark | null): void;
}

const DeskContext = createContext<Desk | null>(null);
export const DeskProvider = DeskContext;

export function useDesk(): Desk {
  const desk = use(DeskContext);
  if (desk === null) throw new Error("outside of the desk");
  return desk;
}

/** The desk of an episode whose first snapshot has come. */
export function useDeskModel(live: LiveSession, view: EpisodeView): Desk {
  const { session, drafts } = live;
  const { episode } = view;
  const { draft, setDraft } = useDraft(episode, drafts, live.refusal);
  const [mode, setMode] = useState<Mode>("point");
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const [looking, setLooking] = useState<number | null>(null);
  const [hovered, hover] = useState<string | null>(null);
  const [wantsDirect, setWantsDirect] = useLocalStorage({ key: "pilothouse.direct", defaultValue: false });
  const stage = useRef<HTMLDivElement>(null);
  const thought = useRef<HTMLTextAreaElement>(null);
  const line = useRef<CommandLine>(null);
  const growing = useRef<ReturnType<typeof setTimeout>>(undefined);

  const composed = useMemo(() => compose(draft, episode), [draft, episode]);
  const mine = view.control === "mine" && episode.status === "running";
  const direct = wantsDirect && !episode.thought_required;

  const send = useCallback((body: Body) => void session.send(body), [session]);

  const choose = (choice: Choice, action: Action | null) => {
    clearTimeout(growing.current);
    if (episode.autopilot) send({ type: "autopilot", on: false });
    send(choice);
    if (action !== null && "text" in action) drafts.rememberText(action.text);
    setDraft(EMPTY_DRAFT);
    setLooking(null);
    stage.current?.focus({ preventScroll: true });
  };

  const submit = (candidate: Draft) => {
    const result = compose(candidate, episode);
    if (result.ok) choose(result.body, result.action);
    else if (result.reason === "thought") thought.current?.focus();
    else if (result.reason === "parse") line.current?.focus();
  };

  const propose = (action: Action, final: boolean) => {
    if (!mine) return;
    clearTimeout(growing.current);
    const next = withAction(draft, action, episode.proposals);
    setDraft(next);
    if (direct && final) submit(next);
    else if (direct) growing.current = setTimeout(() => submit(next), TOGETHER_WITHIN);
    else if (final && compose(next, episode).ok === false && next.thought.trim() === "") thought.current?.focus();
  };

  const accept = (proposal: Proposal | undefined) => {
    if (mine && proposal?.action != null) choose(acceptOf(proposal, episode), proposal.action);
  };

  return {
    ...live,
    view,
    episode,
    draft,
    composed,
    drafted: composed.ok || composed.reason === "thought" ? composed.action : null,
    mine,
    mode,
    dialog,
    looking,
    hovered,
    direct,
    stage,
    thought,
    line,
    setDraft,
    setMode,
    setDialog,
    look: (index) => setLooking(index !== null && episode.steps[index] ? index : null),
    hover,
    toggleDirect: () => setWantsDirect(!wantsDirect),
    send,
    propose,
    perform: (action) => {
      if (!mine) return;
      const next = withAction(draft, action, episode.proposals);
      setDraft(next);
      submit(next);
    },
    doIt: () => {
      if (!mine) return;
      if (composed.ok || composed.reason !== "empty") submit(draft);
      else accept(episode.proposals.find(({ action }) => action !== null));
    },
    accept,
    edit: (proposal) => {
      if (!mine || proposal === undefined) return;
      setDraft(fromProposal(proposal));
      thought.current?.focus();
    },
    mark: (proposal, mark) => {
      if (mine && proposal) send({ type: "mark", proposal_id: proposal.id, mark });
    },
  };
}

/** The mark that follows a mark when it is toggled by key: none, acceptable, wrong. */
export function nextMark(mark: Mark | null): Mark | null {
  if (mark === null) return "acceptable";
  return mark === "acceptable" ? "wrong" : null;
}
