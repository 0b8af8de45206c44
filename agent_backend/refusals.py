"""Why a command cannot be taken in a given state: pure rules, each with its stable code."""

from collections.abc import Collection
from itertools import takewhile

from agent_backend.errors import CommandRefused
from agent_backend.ports import EpisodeCommand
from vocabulary.actions import CONTROL_KINDS, ENDS, Action, CallUser, NoAction, off_screen
from vocabulary.base import Frozen
from vocabulary.messages import (
    Accept,
    Act,
    Autopilot,
    CallForHelp,
    ConfirmSecrets,
    EpisodeState,
    EpisodeStatus,
    FinishEpisode,
    LeaveEpisode,
    MarkProposal,
    Pause,
    Resample,
    ReviseMemory,
    SetPace,
    Takeover,
    TakeoverInput,
    Undo,
)
from vocabulary.observations import ActionError, BrowserPage
from vocabulary.proposals import Proposal
from vocabulary.steps import standing

ALWAYS = (LeaveEpisode, CallForHelp)
TAKEN_WHEN: dict[EpisodeStatus, tuple[type[Frozen], ...]] = {
    "warming": ALWAYS,
    "running": (
        *ALWAYS,
        *(Act, Accept, Resample, MarkProposal, FinishEpisode, Pause, Autopilot, Takeover, TakeoverInput, Undo),
        SetPace,
        ReviseMemory,
        ConfirmSecrets,
    ),
    "paused": (*ALWAYS, ReviseMemory, Pause, MarkProposal, FinishEpisode),
    "failed": ALWAYS,
}
"""Which commands each status takes; one that is not listed takes none."""

TAKEN_IN_TAKEOVER = (*ALWAYS, ReviseMemory, MarkProposal, Takeover, TakeoverInput, SetPace)


def check(state: EpisodeState, command: EpisodeCommand) -> None:
    """Raises CommandRefused when `command` cannot be taken in `state`."""
    if not isinstance(command, TAKEN_WHEN.get(state.status, ())):
        code = "machine_gone" if state.status == "failed" else "not_running"
        raise CommandRefused(code, state.error or f"the episode is {state.status}")
    if state.takeover and not isinstance(command, TAKEN_IN_TAKEOVER):
        raise CommandRefused("in_takeover", "end the takeover first")
    match command:
        case Act():
            check_act(state, command.action, command.thought)
        case Accept():
            check_accept(state, command)
        case MarkProposal():
            offered(state, command.proposal_id)
        case Takeover():
            check_takeover(state, command)
        case TakeoverInput():
            check_inputs(state, command)
        case Undo():
            check_undo(state)
        case SetPace():
            check_pace(state)


def check_accept(state: EpisodeState, command: Accept) -> None:
    """An accept holds only for the very candidates the person saw."""
    if command.base_version != len(state.steps):
        raise CommandRefused(
            "stale_accept", f"step {len(state.steps)} is next, the accept was for {command.base_version}"
        )
    proposal = offered(state, command.proposal_id)
    if proposal.action is None:
        raise CommandRefused("unparsed_proposal", "this candidate is no action")
    check_act(state, proposal.action, proposal.thought if command.thought is None else command.thought)


def check_act(state: EpisodeState, action: Action, thought: str) -> None:
    """An act must have its thought, be possible here, and lie on the screen."""
    if state.thought_required and not thought.strip():
        raise CommandRefused("thought_required", "say why before you act")
    if action.kind not in CONTROL_KINDS:
        check_possible(state, action)


def check_possible(state: EpisodeState, action: Action) -> None:
    """An action for the machine must fit the task's steps, the machine and the screen."""
    check_room(state)
    if (page := page_of(state)) is not None and page.truncated:
        raise CommandRefused("time_over", "the time of the page's task is over")
    check_kinds(state, (action.kind,))
    check_points(state, action)


def check_steering(state: EpisodeState, best: Proposal) -> None:
    """The autopilot does plain acts only: what ends an episode, asks somebody or cannot be read is a person's."""
    if best.action is None:
        raise CommandRefused("unparsed_proposal", "this candidate is no action")
    if best.action.kind in CONTROL_KINDS:
        raise CommandRefused("unsupported_action", "a person decides about the end")
    if (page := page_of(state)) is not None and page.done:
        raise CommandRefused("page_done", "the page has ended by itself")
    check_possible(state, best.action)


def lapse_of(state: EpisodeState, best: Proposal) -> ActionError | None:
    """What was wrong with a reply that nobody could do anything by, where that is the policy's own fault; None where it
    ends the episode or nothing can be done any more."""
    page = page_of(state)
    if isinstance(best.action, ENDS) or (page is not None and page.over) or no_room(state):
        return None
    if best.action is None:
        why = best.error
        return ActionError(code=why.code, message=why.message) if why else None
    if isinstance(best.action, CallUser):
        return ActionError(code="nobody_there", message="nobody is there to be asked")
    try:
        check_possible(state, best.action)
    except CommandRefused as refusal:
        return ActionError(code=refusal.code, message=str(refusal))
    return None


def lapses(state: EpisodeState) -> int:
    """How many of the last steps in a row were no action."""
    return len(list(takewhile(lambda step: isinstance(step.action, NoAction), reversed(standing(state.steps)))))


def check_takeover(state: EpisodeState, command: Takeover) -> None:
    """A takeover needs a machine that takes gestures; a gesture that is open when it ends needs its thought."""
    if command.on:
        check_room(state)
        return check_kinds(state, ("gesture",))
    if not state.takeover:
        raise CommandRefused("not_in_takeover", "there is no takeover to end")
    thought = command.thought or (state.pending.thought if state.pending else "")
    if state.pending and state.thought_required and not thought.strip():
        raise CommandRefused("thought_required", "say what you did by hand")


def check_inputs(state: EpisodeState, command: TakeoverInput) -> None:
    """Direct inputs need a takeover and must be possible here."""
    if not state.takeover:
        raise CommandRefused("not_in_takeover", "begin a takeover first")
    if state.pending is None:
        check_room(state)
    check_kinds(state, {event.kind for event in command.inputs})
    for event in command.inputs:
        check_points(state, event)


def check_undo(state: EpisodeState) -> None:
    """There must be a way back, and something to take back."""
    if not state.can_undo:
        raise CommandRefused("cannot_undo", "this machine has no way back")
    if not standing(state.steps):
        raise CommandRefused("cannot_undo", "nothing has been done yet")


def check_pace(state: EpisodeState) -> None:
    """Only the time of a page with a clock of its own goes at another pace."""
    page = page_of(state)
    if page is None or page.clock == "real":
        raise CommandRefused("unsupported_action", "this machine's time is everybody's")


def page_of(state: EpisodeState) -> BrowserPage | None:
    """How a browser's page stood when it was last looked at."""
    return state.observation.page if state.observation else None


def no_room(state: EpisodeState) -> bool:
    """Whether the task allows no further step."""
    return len(standing(state.steps)) >= state.task.max_steps


def check_room(state: EpisodeState) -> None:
    """The task allows so many steps."""
    if no_room(state):
        raise CommandRefused("step_limit", f"this task allows {state.task.max_steps} steps")


def check_kinds(state: EpisodeState, kinds: Collection[str]) -> None:
    """The machine must accept each kind."""
    for kind in kinds:
        if kind not in state.capabilities:
            raise CommandRefused("unsupported_action", f"this machine cannot {kind}")


def check_points(state: EpisodeState, action: Action) -> None:
    """Every pixel must lie on the latest picture."""
    seen = state.observation
    if seen is None:
        return
    outside = off_screen(action, seen.width, seen.height)
    if outside is not None:
        raise CommandRefused("off_screen", f"({outside.x}, {outside.y}) is outside {seen.width}x{seen.height}")


def offered(state: EpisodeState, proposal_id: str) -> Proposal:
    """The candidate of that id. Raises CommandRefused when it is not on offer."""
    for proposal in state.proposals:
        if proposal.id == proposal_id:
            return proposal
    raise CommandRefused("unknown_proposal", "this candidate is not on offer any more")
