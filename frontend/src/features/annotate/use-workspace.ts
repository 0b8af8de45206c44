/** The state of the workspace: what it shows, what is being composed, and everything a person can do. */
import { createContext, use, useCallback, useMemo, useRef, useState, type RefObject } from "react";
import { flushSync } from "react-dom";
import { useLocalStorage } from "@mantine/hooks";

import type { Action, EpisodeState, Mark, Proposal, Step } from "@/generated/vocabulary";
import { EMPTY_DRAFT, type Draft } from "@/session/drafts";
import type { EpisodeView } from "@/session/reducer";
import type { CommandBody } from "@/session/session";
import { countTaken } from "@/session/text-ranges";
import type { LiveSession } from "@/session/use-session";
import { heldKeysOf, withHeldKeys, type HoldableKey } from "@/shared/actions/held";
import { printAction } from "@/shared/actions/print";
import { needsThoughtFirst, withoutUndone, withOwedThoughts } from "@/shared/steps";

import { acceptCommand, compose, draftFromProposal, isInherited, isMeant, withAction, type StepCommand, type Composed } from "./composer";
import { currentPanel, type PanelName } from "@/features/annotate/panels/panels";
import { COALESCE_MS } from "@/features/annotate/viewport/gestures";
import { endsEpisode, enterOf, mayAccept, type Enter } from "./enter";
import { useDraft } from "./use-draft";

/** `press` and `release` capture one key to hold down or let go. */
export type Mode = "point" | "type" | "hotkey" | "press" | "release";
export type Dialog = "finish" | "infeasible" | "help" | "leave" | "clipboard" | "takeover" | "prompt" | "notes" | "thoughts" | "program";

/** The command line as others reach it: pointing writes coordinates where its caret stands. */
interface CommandLine {
  focus(): void;
  /** Writes a point at the caret; false where the caret is in no coordinate, or elsewhere. */
  takePoint(pixel: { x: number; y: number }): boolean;
}

export interface Workspace extends LiveSession {
  readonly view: EpisodeView;
  readonly episode: EpisodeState;
  /** The steps that count: all but undone ones. */
  readonly steps: readonly Step[];
  /** The steps whose thought is still to be written. */
  readonly owed: readonly Step[];
  readonly canWriteThoughts: boolean;
  readonly draft: Draft;
  readonly composed: Composed;
  /** The action being composed, also while its thought is missing. */
  readonly draftedAction: Action | null;
  /** Whether this page may act now. */
  readonly canAct: boolean;
  /** See `mayAccept`. */
  readonly canAccept: (proposal: Proposal | undefined) => boolean;
  readonly enter: Enter;
  /** Whether the next task is claimed once this one has ended. */
  readonly claimsNext: boolean;
  readonly mode: Mode;
  readonly dialog: Dialog | null;
  /** The viewed step; null for the present. */
  readonly viewedStep: number | null;
  readonly hovered: string | null;
  /** Gestures are sent at once. */
  readonly direct: boolean;
  /** How many actions of a candidate are accepted, from the first; null for all of them. */
  readonly actionLimit: number | null;
  /** The panel that is open beside the picture, or in its place. */
  readonly panel: PanelName | null;
  readonly viewportRef: RefObject<HTMLDivElement | null>;
  readonly thoughtRef: RefObject<HTMLTextAreaElement | null>;
  readonly commandLineRef: RefObject<CommandLine | null>;
  /** The field of the open panel that its key goes to. */
  readonly panelRef: RefObject<{ focus(): void } | null>;
  /** The keyboard of a touch screen, during a takeover. */
  readonly screenKeyboardRef: RefObject<{ toggle(): void } | null>;
  readonly setDraft: (draft: Draft) => void;
  readonly setMode: (mode: Mode) => void;
  readonly setDialog: (dialog: Dialog | null) => void;
  /** Asks how the task ended. */
  readonly askOutcome: (how: "finish" | "infeasible") => void;
  /** What ends the episode once the thoughts that it owes are written or passed over; null where nothing does. */
  readonly ending: (() => void) | null;
  readonly viewStep: (index: number | null) => void;
  readonly hover: (proposalId: string | null) => void;
  readonly toggleDirect: () => void;
  /** Whether nothing is marked on the picture, so that all of it can be seen. */
  readonly markersHidden: boolean;
  readonly toggleMarkers: () => void;
  readonly setActionLimit: (limit: number | null) => void;
  /** The keys that the drafted action holds, or that the next one will. */
  readonly heldKeys: readonly string[];
  /** Holds a key during the drafted or the next click, drag or scroll, or no longer. */
  readonly toggleHeldKey: (key: HoldableKey) => void;
  /** Opens a panel and goes to it; null closes it. */
  readonly showPanel: (panel: PanelName | null) => void;
  /** Shows the composer and goes to one of its fields, or to the stage. */
  readonly focusOn: (ref: RefObject<{ focus(): void } | null>) => void;
  readonly send: (body: CommandBody) => void;
  /** An action that was pointed, typed or captured; `final` is false while it may still grow. */
  readonly composeAction: (action: Action, final: boolean) => void;
  /** An action that a person goes on building: it waits for Enter, in direct mode too. */
  readonly composePart: (action: Action) => void;
  /** The same, and done at once where its thought was written for it, or none is needed; else the thought comes first. */
  readonly perform: (action: Action) => void;
  /** One burst of many: done with the thought that stands, which stays. False where a thought is required and missing. */
  readonly sendKeystrokes: (action: Action) => boolean;
  readonly submitStep: () => void;
  /** Does a candidate's actions: those within the action limit, or as many as are named. */
  readonly accept: (proposal: Proposal | undefined, actions?: number) => void;
  /** Accept what a provider wants checked, once the person has looked. */
  readonly acknowledge: (proposal: Proposal) => void;
  readonly edit: (proposal: Proposal | undefined) => void;
  readonly mark: (proposal: Proposal | undefined, mark: Mark | null) => void;
}

const WorkspaceContext = createContext<Workspace | null>(null);
export const WorkspaceProvider = WorkspaceContext;

export function useWorkspace(): Workspace {
  const workspace = use(WorkspaceContext);
  if (workspace === null) throw new Error("outside of the workspace");
  return workspace;
}

/** The workspace of an episode whose first snapshot has arrived. */
export function useWorkspaceState(live: LiveSession, view: EpisodeView): Workspace {
  const { session, drafts } = live;
  const { episode } = view;
  const { draft, setDraft } = useDraft(episode, drafts, live.rejection, live.discarded);
  const [mode, setMode] = useState<Mode>("point");
  const [dialog, setOpenDialog] = useState<Dialog | null>(null);
  const [viewedStep, setViewedStep] = useState<number | null>(null);
  const [hovered, hover] = useState<string | null>(null);
  const [actionLimit, setActionLimit] = useState<number | null>(null);
  const [claimsNext, setClaimsNext] = useState(false);
  const [armedKeys, setArmedKeys] = useState<readonly string[]>([]);
  const [ending, setEnding] = useState<(() => void) | null>(null);
  const [hiddenAt, setHiddenAt] = useState<number | null>(null);
  const [wantsDirect, setWantsDirect] = useLocalStorage({ key: "pilothouse.direct", defaultValue: false });
  const [chosen, setChosen] = useState<{ panel: PanelName | null; step: number }>({ panel: null, step: 0 });
  const viewportRef = useRef<HTMLDivElement>(null);
  const thoughtRef = useRef<HTMLTextAreaElement>(null);
  const commandLineRef = useRef<CommandLine>(null);
  const panelRef = useRef<{ focus(): void }>(null);
  const screenKeyboardRef = useRef<{ toggle(): void }>(null);
  const returnTo = useRef<HTMLElement | null>(null);
  const settleTimer = useRef<ReturnType<typeof setTimeout>>(undefined);

  const composed = useMemo(() => compose(draft, episode), [draft, episode]);
  const steps = useMemo(() => withoutUndone(episode.steps), [episode.steps]);
  const owed = useMemo(() => withOwedThoughts(steps, view.actsAs), [steps, view.actsAs]);
  const canAct = view.control === "mine" && episode.status === "running";
  const situation = { episode, connection: live.connection, canAct, viewedStep };
  const canAccept = (proposal: Proposal | undefined) => mayAccept(situation, proposal);
  const markersHidden = hiddenAt === episode.steps.length;
  const direct = wantsDirect && !needsThoughtFirst(episode);
  const enter = enterOf({ ...situation, composed });

  const setDialog = useCallback((opened: Dialog | null) => {
    setEnding(null);
    setOpenDialog(opened);
  }, []);

  /** Does what ends the episode, after the thoughts that it owes. */
  const end = (run: () => void) => {
    if (owed.length === 0) run();
    else {
      setEnding(() => run);
      setOpenDialog("thoughts");
    }
  };

  const send = useCallback((body: CommandBody) => void session.send(body), [session]);

  const sendStep = (choice: StepCommand, action: Action | null) => {
    clearTimeout(settleTimer.current);
    if (episode.autopilot) send({ type: "autopilot", on: false });
    send(choice);
    if (action !== null && "text" in action) drafts.rememberText(action.text);
    setDraft(EMPTY_DRAFT);
    setViewedStep(null);
    setActionLimit(null);
    setArmedKeys([]);
    setClaimsNext(false);
    restoreFocus();
  };

  const sendOrEnd = (choice: StepCommand, action: Action) =>
    isFinal(action) ? end(() => sendStep(choice, action)) : sendStep(choice, action);

  /** To the panel's field where the step began, else to the stage. */
  const restoreFocus = () => {
    const field = returnTo.current;
    returnTo.current = null;
    (field?.isConnected === true ? field : viewportRef.current)?.focus({ preventScroll: true });
  };

  /** At once: the next key may come before the next frame, and belongs to the field. */
  const focusOn = (ref: RefObject<{ focus(): void } | null>) => {
    flushSync(() => setMode("point"));
    ref.current?.focus();
  };

  /** The thought, with what it says selected: one key replaces it. */
  const askForThought = () => {
    focusOn(thoughtRef);
    thoughtRef.current?.select();
  };

  const submit = (candidate: Draft) => {
    const result = compose(candidate, episode);
    if (result.ok) sendOrEnd(result.body, result.action);
    else if (result.reason === "thought") askForThought();
    else if (result.reason === "parse") focusOn(commandLineRef);
  };

  /** A composed gesture that can grow no more: done at once in direct mode, else it waits for Enter, in the thought where that is missing or a candidate's. */
  const settle = (next: Draft) => {
    const result = compose(next, episode);
    if (direct) submit(next);
    else if (result.ok ? result.body.type === "act" && isInherited(next) : result.reason === "thought") askForThought();
  };

  const composeAction = (action: Action, final: boolean) => {
    if (!canAct) return;
    clearTimeout(settleTimer.current);
    returnTo.current = null;
    const next = withAction(draft, holdArmed(action), episode.proposals);
    setDraft(next);
    if (final) settle(next);
    else settleTimer.current = setTimeout(() => settle(next), COALESCE_MS);
  };

  /** With the keys that are to be held, where it can hold any. */
  const holdArmed = (action: Action) => withHeldKeys(action, [...new Set([...(heldKeysOf(action) ?? []), ...armedKeys])]);

  const draftedAction = composed.ok || composed.reason === "thought" ? composed.action : null;
  const heldKeys = heldKeysOf(draftedAction) ?? armedKeys;

  const acknowledge = (proposal: Proposal) => {
    const acknowledged = proposal.safety_checks.map(({ id }) => id);
    const command = acceptCommand(proposal, episode, { actions: actionLimit, acknowledged });
    if (canAccept(proposal)) sendStep(command, proposal.action);
  };
  const accept = (proposal: Proposal | undefined, actions: number | null = actionLimit, claims = false) => {
    if (proposal === undefined || !canAccept(proposal)) return;
    const run = () => {
      sendStep(acceptCommand(proposal, episode, { actions }), proposal.action);
      setClaimsNext(claims);
    };
    if (endsEpisode(proposal)) end(run);
    else run();
  };

  return {
    ...live,
    view,
    episode,
    steps,
    owed,
    canWriteThoughts: view.control === "mine" && (episode.status === "running" || episode.status === "paused"),
    draft,
    composed,
    draftedAction,
    canAct,
    canAccept,
    enter,
    claimsNext,
    mode,
    dialog,
    viewedStep,
    hovered,
    direct,
    actionLimit,
    panel: currentPanel(chosen, episode),
    viewportRef,
    thoughtRef,
    commandLineRef,
    panelRef,
    screenKeyboardRef,
    setDraft,
    setMode,
    setDialog,
    askOutcome: (how) => end(() => setDialog(how)),
    ending,
    viewStep: (index) => setViewedStep(index !== null && episode.steps[index] ? index : null),
    hover,
    toggleDirect: () => setWantsDirect(!wantsDirect),
    markersHidden,
    toggleMarkers: () => setHiddenAt(markersHidden ? null : episode.steps.length),
    showPanel: (panel) => {
      flushSync(() => setChosen({ panel, step: episode.steps.length }));
      (panel === null ? viewportRef : panelRef).current?.focus();
    },
    setActionLimit,
    heldKeys,
    toggleHeldKey: (key) => {
      const next = heldKeys.includes(key) ? heldKeys.filter((held) => held !== key) : [...heldKeys, key];
      setArmedKeys(next);
      if (draftedAction !== null) setDraft({ ...draft, command: printAction(withHeldKeys(draftedAction, next)) });
    },
    focusOn,
    send,
    composeAction,
    composePart: (action) => {
      if (canAct) setDraft(withAction(draft, holdArmed(action), episode.proposals));
    },
    perform: (action) => {
      if (!canAct) return;
      const field = document.activeElement;
      returnTo.current = field instanceof HTMLElement && field.closest("[data-panel]") !== null ? field : null;
      const next = withAction(draft, action, episode.proposals);
      const result = compose(next, episode);
      setDraft(next);
      if (result.ok && !isMeant(draft, result)) askForThought();
      else submit(next);
    },
    sendKeystrokes: (action) => {
      if (!canAct) return false;
      const thought = isInherited(draft) ? "" : draft.thought.trim();
      if (needsThoughtFirst(episode) && thought === "") {
        askForThought();
        return false;
      }
      send({ type: "act", action, thought, continued_characters: countTaken(draft.taken, draft.thought), proposal_id: null });
      return true;
    },
    submitStep: () => {
      if (enter.does === "step") submit(draft);
      else if (enter.does === "accept") accept(enter.proposal);
      else if (enter.does === "accept_end") accept(enter.proposal, actionLimit, true);
      else if (enter.does === "finish_ask") end(() => setDialog("finish"));
      else if (enter.does === "finish") {
        end(() => {
          setClaimsNext(true);
          send({ type: "finish", outcome: "success", answer: "", reason: "" });
        });
      }
    },
    accept: (proposal, actions) => accept(proposal, actions),
    acknowledge,
    edit: (proposal) => {
      if (!canAct || proposal === undefined) return;
      setDraft(draftFromProposal(proposal));
      focusOn(thoughtRef);
    },
    mark: (proposal, mark) => {
      if (canAct && proposal) send({ type: "mark", proposal_id: proposal.id, mark });
    },
  };
}

/** Whether an action says that the task is over. */
function isFinal({ kind }: Action): boolean {
  return kind === "finish" || kind === "infeasible";
}

/** The mark that follows a mark when it is toggled by key: none, acceptable, wrong. */
export function nextMark(mark: Mark | null): Mark | null {
  if (mark === null) return "acceptable";
  return mark === "acceptable" ? "wrong" : null;
}
