/** The client's view of an episode: a snapshot and the events applied to it. Pure. */

import type {
  Control,
  DurableEvent,
  EpisodeState,
  Event,
  Partial as PartialCandidate,
  PendingAct,
  PolicyRef,
  Proposal,
  ProposalsWithdrawn,
  Step,
  TextContinued,
} from "@/generated/vocabulary";

/** The episode as seen from this socket. `gap` says that an event was missed: refetch the snapshot. */
export interface EpisodeView {
  readonly episode: EpisodeState;
  readonly control: Control;
  readonly holder: string;
  /** The `acted_by` of the steps decided here: a supervisor's pseudonym, null for the annotator. */
  readonly actsAs: string | null;
  readonly partials: readonly PartialCandidate[];
  readonly withdrawn: ProposalsWithdrawn["reason"] | null;
  /** What was offered at each step, as far as this page saw it (by step index). */
  readonly offered: Readonly<Record<number, readonly Proposal[]>>;
  readonly gap: boolean;
  /** The disk for pictures is full: the step of this moment waits for room. */
  readonly storageFull: boolean;
  /** The last answer to a request to continue a text, and the policy that cannot at this step: it may again later. */
  readonly continued: TextContinued | null;
  readonly cannotContinue: PolicyRef | null;
}

export function viewOf(episode: EpisodeState, control: Control = "nobody"): EpisodeView {
  return { episode, control, holder: "", actsAs: null, partials: [], withdrawn: null, offered: {}, gap: false, storageFull: false, continued: null, cannotContinue: null };
}

/** The view after one event; events already applied change nothing, a missing one only raises `gap`. */
export function applyEvent(view: EpisodeView | null, event: Event): EpisodeView | null {
  if (event.type === "snapshot") return { ...applySnapshot(view, event.state, event.control), actsAs: event.acts_as };
  if (view === null) return null;
  switch (event.type) {
    case "control.changed":
      return { ...view, control: event.control, holder: event.holder };
    case "proposals.thinking":
      return {
        ...view,
        partials: event.partials,
        episode: {
          ...view.episode,
          thinking: event.thinking,
          thinking_error: event.message,
          thinking_code: event.code,
          thinking_policy: event.policy,
        },
      };
    case "memories.noting":
      return { ...view, episode: { ...view.episode, noting: event.noting, noting_error: event.message, noting_policy: event.policy } };
    case "storage.changed":
      return { ...view, storageFull: event.full };
    case "text.continued":
      return { ...view, continued: event, cannotContinue: event.code === "unsupported" ? event.policy : view.cannotContinue };
    case "pong":
      return event.version > view.episode.version ? { ...view, gap: true } : view;
    case "acknowledged":
    case "rejected":
      return view;
    default:
      if (event.version <= view.episode.version) return view;
      if (event.version > view.episode.version + 1) return { ...view, gap: true };
      return applyDurable(view, event);
  }
}

/** A snapshot replaces everything, unless it is older than what was already applied. */
export function applySnapshot(
  view: EpisodeView | null,
  episode: EpisodeState,
  control: Control,
): EpisodeView {
  if (view?.episode.id !== episode.id) return viewOf(episode, control);
  if (episode.version < view.episode.version) return { ...view, control };
  return { ...view, episode, control, partials: [], gap: false, storageFull: view.storageFull && episode.pending !== null };
}

/** No proposals are being requested, and no request failed. */
const NOT_THINKING = { thinking: "idle", thinking_error: "", thinking_policy: null } as const;

function applyDurable(view: EpisodeView, event: DurableEvent): EpisodeView {
  const episode = { ...view.episode, version: event.version };
  switch (event.type) {
    case "step.started":
      return { ...view, partials: [], episode: { ...episode, pending: event.pending, ...NOT_THINKING } };
    case "step.added":
      return stepAdded({ ...view, episode, storageFull: false, cannotContinue: null }, event.step, event.pending ?? null);
    case "step.undone":
      return {
        ...view,
        partials: [],
        withdrawn: null,
        episode: {
          ...episode,
          steps: episode.steps.map((step) => (step.index === event.index ? { ...step, undone: true } : step)),
          observation: event.observation,
          proposals: [],
          ...NOT_THINKING,
        },
      };
    case "thought.written":
      return {
        ...view,
        episode: {
          ...episode,
          steps: episode.steps.map((step) =>
            step.index === event.index ? { ...step, thought: event.thought, thought_timing: "later" } : step,
          ),
        },
      };
    case "proposals.ready":
      return {
        ...view,
        partials: [],
        withdrawn: null,
        episode: {
          ...episode,
          proposals: event.proposals,
          policy: event.policy,
          ...NOT_THINKING,
          thinking: "ready",
        },
      };
    case "proposals.withdrawn":
      return {
        ...view,
        partials: [],
        withdrawn: event.reason,
        episode: { ...episode, observation: event.observation ?? episode.observation, proposals: [], ...NOT_THINKING },
      };
    case "proposal.marked":
      return {
        ...view,
        episode: {
          ...episode,
          proposals: episode.proposals.map((proposal) =>
            proposal.id === event.proposal_id ? { ...proposal, mark: event.mark } : proposal,
          ),
        },
      };
    case "episode.changed":
      return { ...view, episode: changed(episode, event) };
  }
}

/** `pending` is the next action of the same reply, where there is one. */
function stepAdded(view: EpisodeView, step: Step, pending: PendingAct | null): EpisodeView {
  const { episode } = view;
  return {
    ...view,
    partials: [],
    withdrawn: null,
    offered: { ...view.offered, [step.index]: episode.proposals },
    episode: {
      ...episode,
      steps: [...episode.steps, step],
      pending,
      proposals: [],
      ...NOT_THINKING,
      observation: step.after ?? episode.observation,
    },
  };
}

function changed(
  episode: EpisodeState,
  event: Extract<Event, { type: "episode.changed" }>,
): EpisodeState {
  const { type: _type, version: _version, ...fields } = event;
  const set = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
  return { ...episode, ...set };
}
