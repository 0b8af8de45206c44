"""Why a command cannot be taken in a given state: pure rules, each with its stable code."""

from collections.abc import Collection
from itertools import takewhile

from agent_backend.errors import CommandRejected
from agent_backend.interfaces import EpisodeCommand
from protocol.actions.types import CONTROL_KINDS, FINAL_ACTIONS, Action, CallUser, NoAction, find_off_screen_point
from protocol.base import FrozenModel
from protocol.messages.events import (
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
    SetTimeScale,
    Takeover,
    TakeoverInput,
    Undo,
)
from protocol.trajectory.observations import ActionError, BrowserPage
from protocol.trajectory.proposals import Proposal
from protocol.trajectory.steps import drop_undone_steps

ALWAYS_ALLOWED = (LeaveEpisode, CallForHelp)
ALLOWED_BY_STATUS: dict[EpisodeStatus, tuple[type[FrozenModel], ...]] = {
    "warming": ALWAYS_ALLOWED,
    "running": (
        *ALWAYS_ALLOWED,
        *(Act, Accept, Resample, MarkProposal, FinishEpisode, Pause, Autopilot, Takeover, TakeoverInput, Undo),
        SetTimeScale,
        ReviseMemory,
        ConfirmSecrets,
    ),
    "paused": (*ALWAYS_ALLOWED, ReviseMemory, Pause, MarkProposal, FinishEpisode),
    "failed": ALWAYS_ALLOWED,
}
"""Which commands each status takes; one that is not listed takes none."""

ALLOWED_IN_TAKEOVER = (*ALWAYS_ALLOWED, ReviseMemory, MarkProposal, Takeover, TakeoverInput, SetTimeScale)


def check_command(state: EpisodeState, command: EpisodeCommand) -> None:
    """Raises CommandRejected when `command` cannot be taken in `state`."""
    if not isinstance(command, ALLOWED_BY_STATUS.get(state.status, ())):
        code = "machine_gone" if state.status == "failed" else "not_running"
        raise CommandRejected(code, state.error or f"the episode is {state.status}")
    if state.takeover and not isinstance(command, ALLOWED_IN_TAKEOVER):
        raise CommandRejected("in_takeover", "end the takeover first")
    match command:
        case Act():
            check_act(state, command.action, command.thought)
        case Accept():
            check_accept(state, command)
        case MarkProposal():
            find_proposal(state, command.proposal_id)
        case Takeover():
            check_takeover(state, command)
        case TakeoverInput():
            check_inputs(state, command)
        case Undo():
            check_undo(state)
        case SetTimeScale():
            check_time_scale(state)


def check_accept(state: EpisodeState, command: Accept) -> None:
    """An accept holds only for the very candidates the person saw."""
    if command.base_version != len(state.steps):
        raise CommandRejected(
            "stale_accept", f"step {len(state.steps)} is next, the accept was for {command.base_version}"
        )
    proposal = find_proposal(state, command.proposal_id)
    if proposal.action is None:
        raise CommandRejected("unparsed_proposal", "this candidate is no action")
    if not {check.id for check in proposal.safety_checks} <= set(command.acknowledged):
        raise CommandRejected("safety_check_unacknowledged", "acknowledge first what its provider asks you to check")
    check_act(state, proposal.action, proposal.thought if command.thought is None else command.thought)


def check_act(state: EpisodeState, action: Action, thought: str) -> None:
    """An act must have its thought, be possible here, and lie on the screen."""
    if state.thought_required and not thought.strip():
        raise CommandRejected("thought_required", "say why before you act")
    if action.kind not in CONTROL_KINDS:
        check_machine_action(state, action)


def check_machine_action(state: EpisodeState, action: Action) -> None:
    """An action for the machine must fit the task's steps, the machine and the screen."""
    check_step_limit(state)
    if (page := current_page(state)) is not None and page.truncated:
        raise CommandRejected("time_over", "the time of the page's task is over")
    check_supported(state, (action.kind,))
    check_on_screen(state, action)


def check_autopilot_action(state: EpisodeState, best: Proposal) -> None:
    """The autopilot does plain acts only: what ends an episode, asks somebody or cannot be read is a person's."""
    if best.action is None:
        raise CommandRejected("unparsed_proposal", "this candidate is no action")
    if best.action.kind in CONTROL_KINDS:
        raise CommandRejected("unsupported_action", "a person decides about the end")
    if (page := current_page(state)) is not None and page.done:
        raise CommandRejected("page_done", "the page has ended by itself")
    if best.safety_checks and not state.unattended_safety_checks:
        raise CommandRejected("safety_check_unacknowledged", "a person must look at what its provider asks to check")
    check_machine_action(state, best.action)


def invalid_reply_error(state: EpisodeState, best: Proposal) -> ActionError | None:
    """What was wrong with a reply that nobody could do anything by, where that is the policy's own fault; None where it
    ends the episode or nothing can be done any more."""
    page = current_page(state)
    if isinstance(best.action, FINAL_ACTIONS) or (page is not None and page.over) or step_limit_reached(state):
        return None
    if best.action is None:
        why = best.error
        return ActionError(code=why.code, message=why.message) if why else None
    if isinstance(best.action, CallUser):
        return ActionError(code="nobody_there", message="nobody is there to be asked")
    try:
        check_machine_action(state, best.action)
    except CommandRejected as rejection:
        return ActionError(code=rejection.code, message=str(rejection))
    return None


def count_invalid_replies(state: EpisodeState) -> int:
    """How many of the last steps in a row were no action."""
    return len(
        list(takewhile(lambda step: isinstance(step.action, NoAction), reversed(drop_undone_steps(state.steps))))
    )


def check_takeover(state: EpisodeState, command: Takeover) -> None:
    """A takeover needs a machine that takes gestures; a gesture that is open when it ends needs its thought."""
    if command.on:
        check_step_limit(state)
        return check_supported(state, ("gesture",))
    if not state.takeover:
        raise CommandRejected("not_in_takeover", "there is no takeover to end")
    thought = command.thought or (state.pending.thought if state.pending else "")
    if state.pending and state.thought_required and not thought.strip():
        raise CommandRejected("thought_required", "say what you did by hand")


def check_inputs(state: EpisodeState, command: TakeoverInput) -> None:
    """Direct inputs need a takeover and must be possible here."""
    if not state.takeover:
        raise CommandRejected("not_in_takeover", "begin a takeover first")
    if state.pending is None:
        check_step_limit(state)
    check_supported(state, {event.kind for event in command.inputs})
    for event in command.inputs:
        check_on_screen(state, event)


def check_undo(state: EpisodeState) -> None:
    """There must be a way back, and something to take back."""
    if not state.can_undo:
        raise CommandRejected("cannot_undo", "this machine has no way back")
    if not drop_undone_steps(state.steps):
        raise CommandRejected("cannot_undo", "nothing has been done yet")


def check_time_scale(state: EpisodeState) -> None:
    """Only the time of a page with a clock of its own goes at another pace."""
    page = current_page(state)
    if page is None or page.clock == "real":
        raise CommandRejected("unsupported_action", "this machine's time is everybody's")


def current_page(state: EpisodeState) -> BrowserPage | None:
    """How a browser's page stood when it was last looked at."""
    return state.observation.page if state.observation else None


def step_limit_reached(state: EpisodeState) -> bool:
    """Whether the task allows no further step."""
    return len(drop_undone_steps(state.steps)) >= state.task.max_steps


def check_step_limit(state: EpisodeState) -> None:
    """The task allows so many steps."""
    if step_limit_reached(state):
        raise CommandRejected("step_limit", f"this task allows {state.task.max_steps} steps")


def check_supported(state: EpisodeState, kinds: Collection[str]) -> None:
    """The machine must accept each kind."""
    for kind in kinds:
        if kind not in state.capabilities:
            raise CommandRejected("unsupported_action", f"this machine cannot {kind}")


def check_on_screen(state: EpisodeState, action: Action) -> None:
    """Every pixel must lie on the latest picture."""
    observation = state.observation
    if observation is None:
        return
    outside = find_off_screen_point(action, observation.width, observation.height)
    if outside is not None:
        raise CommandRejected(
            "off_screen", f"({outside.x}, {outside.y}) is outside {observation.width}x{observation.height}"
        )


def find_proposal(state: EpisodeState, proposal_id: str) -> Proposal:
    """The candidate of that id. Raises CommandRejected when it is not on offer."""
    for proposal in state.proposals:
        if proposal.id == proposal_id:
            return proposal
    raise CommandRejected("unknown_proposal", "this candidate is not on offer any more")
