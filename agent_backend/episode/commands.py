"""The commands of one episode: their queue, the runner's wake-up, their digests, the checks that reject them, and the
intents they produce."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Collection
from itertools import takewhile
from typing import Any

from agent_backend.errors import CommandRejected
from agent_backend.interfaces import CommandRecord, Emit, EpisodeCommand, PassControl
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
    Rejected,
    Resample,
    ReviseMemory,
    SetTimeScale,
    Takeover,
    TakeoverInput,
    Undo,
    WriteThought,
)
from protocol.trajectory.memory import Memory
from protocol.trajectory.observations import ActionError, BrowserPage
from protocol.trajectory.proposals import Proposal
from protocol.trajectory.steps import BatchPosition, drop_undone_steps
from protocol.trajectory.trajectories import Outcome

NOT_REMEMBERED = "the machine did not remember how it was before this step"


class CommandQueue:
    """Waiting commands with their reply channels, in order of arrival.

    Args:
        size: Maximum number of waiting commands.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._waiting: deque[tuple[EpisodeCommand, Emit]] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def first(self) -> EpisodeCommand | None:
        """The next command, which stays in the queue; None if no command waits."""
        return self._waiting[0][0] if self._waiting else None

    def holds(self, *kinds: type[EpisodeCommand]) -> bool:
        """Whether a command of one of these kinds waits."""
        return any(isinstance(command, kinds) for command, _ in self._waiting)

    def add(self, command: EpisodeCommand, reply: Emit) -> bool:
        """Queue a command. A resent command replaces the waiting one. Returns whether it is new.

        Raises:
            CommandRejected: `queue_full`; a resent command and `PassControl` are accepted even then.
        """
        for place, (waiting, _) in enumerate(self._waiting):
            if waiting == command:
                self._waiting[place] = (command, reply)
                return False
        if len(self._waiting) >= self._size and not isinstance(command, PassControl):
            raise CommandRejected("queue_full", "too many commands are waiting")
        self._waiting.append((command, reply))
        return True

    def take(self) -> tuple[EpisodeCommand, Emit]:
        """Remove the next command. Raises IndexError if no command waits."""
        return self._waiting.popleft()


class Wakeup:
    """An event with a deadline for the wait."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self.set = self._event.set
        self.clear = self._event.clear
        self.waiting = False
        """Whether the runner waits and is therefore idle."""

    async def wait(self, *deadlines: float | None) -> None:
        """Return when the event is set or the earliest deadline has passed; None never passes."""
        self.waiting = True
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(min((at for at in deadlines if at is not None), default=None)):
                    await self._event.wait()
        finally:
            self.waiting = False

    @staticmethod
    def is_due(at: float | None) -> bool:
        """Whether a deadline has passed; None never does."""
        return at is not None and asyncio.get_running_loop().time() >= at


def record_of(command: FinishEpisode | LeaveEpisode, digest: str) -> CommandRecord:
    """The record of a command that ends the episode."""
    return CommandRecord(command_id=command.command_id, digest=digest, note=command.reason)


def rejection(command: EpisodeCommand, code: str, message: str) -> Rejected:
    """The answer to a command that changed nothing."""
    return Rejected(command_id=command.command_id, code=code, message=message)


def intent_fields(command: Act | Accept, state: EpisodeState) -> dict[str, Any]:
    """The intent of a checked command: the candidate it accepts, or the person's own action."""
    if isinstance(command, Act):
        known = command.proposal_id in {proposal.id for proposal in state.proposals}
        return {
            "command_id": command.command_id,
            "decision": "override",
            "proposal_id": command.proposal_id if known else None,
            "thought": command.thought,
            "continued_characters": min(command.continued_characters, len(command.thought)),
            "action": command.action,
        }
    proposal = find_proposal(state, command.proposal_id)
    thought = proposal.thought if command.thought is None else command.thought
    actions = accepted_actions(proposal, command)
    return {
        "command_id": command.command_id,
        "decision": "accept" if (thought, actions) == (proposal.thought, proposal.actions) else "edit",
        "proposal_id": proposal.id,
        "thought": thought,
        "continued_characters": 0 if command.thought is None else min(command.continued_characters, len(thought)),
        **batch_fields(actions),
    }


def revise_memories(memories: tuple[Memory, ...], command: ReviseMemory) -> tuple[Memory, ...]:
    """The notes with one of them corrected. A note that gets its original text back counts as the policy's own again.
    Raises CommandRejected if there is no note of this name."""
    if all(memory.through != command.through for memory in memories):
        raise CommandRejected("unknown_memory", "there is no such note")
    return tuple(
        _with_text(memory, command.text) if memory.through == command.through else memory for memory in memories
    )


def _with_text(memory: Memory, text: str) -> Memory:
    first = memory.original if memory.revised else memory.text
    own = text == first
    return memory.model_copy(update={"text": text, "revised": not own, "original": None if own else first})


def batch_fields(actions: tuple[Action, ...]) -> dict[str, object]:
    """The fields of the intent of the first of several actions."""
    return {
        "action": actions[0],
        "further_actions": actions[1:],
        "batch": BatchPosition(index=1, size=len(actions)) if len(actions) > 1 else None,
    }


OUTCOME_OF_LEAVING: dict[str, Outcome | None] = {"skip": "skipped", "broken": "broken", "release": None}
ALWAYS_ALLOWED = (LeaveEpisode, CallForHelp, PassControl)


ALLOWED_BY_STATUS: dict[EpisodeStatus, tuple[type[FrozenModel], ...]] = {
    "warming": ALWAYS_ALLOWED,
    "running": (
        *ALWAYS_ALLOWED,
        *(Act, Accept, Resample, MarkProposal, FinishEpisode, Pause, Autopilot, Takeover, TakeoverInput, Undo),
        *(SetTimeScale, ReviseMemory, ConfirmSecrets, WriteThought),
    ),
    "paused": (*ALWAYS_ALLOWED, ReviseMemory, WriteThought, Pause, MarkProposal, FinishEpisode),
    "failed": ALWAYS_ALLOWED,
}
"""The commands that each status accepts; a status that is not listed accepts none."""


ALLOWED_IN_TAKEOVER = (*ALWAYS_ALLOWED, ReviseMemory, WriteThought, MarkProposal, Takeover, TakeoverInput, SetTimeScale)


def check_command(state: EpisodeState, command: EpisodeCommand) -> None:
    """Raises CommandRejected if `command` cannot be accepted in `state`."""
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
    """An accept is valid only for the candidates that the person saw."""
    if command.base_version != len(state.steps):
        raise CommandRejected(
            "stale_accept", f"step {len(state.steps)} is next, the accept was for {command.base_version}"
        )
    proposal = find_proposal(state, command.proposal_id)
    if proposal.action is None:
        raise CommandRejected("unparsed_proposal", "this candidate is no action")
    if command.actions is not None and command.actions > len(proposal.actions):
        raise CommandRejected("too_many_actions", f"this candidate holds {len(proposal.actions)} actions")
    if not {check.id for check in proposal.safety_checks} <= set(command.acknowledged):
        raise CommandRejected("safety_check_unacknowledged", "acknowledge first what its provider asks you to check")
    first, *further = accepted_actions(proposal, command)
    if first.kind not in CONTROL_KINDS and (page := current_page(state)) is not None and page.done:
        raise CommandRejected("page_done", "the page has ended by itself")
    check_act(state, first, proposal.thought if command.thought is None else command.thought)
    for action in further:
        if action.kind not in CONTROL_KINDS:
            check_supported(state, (action.kind,))
            check_on_screen(state, action)


def accepted_actions(proposal: Proposal, command: Accept) -> tuple[Action, ...]:
    """The actions of a candidate that a command accepts, from the first."""
    return proposal.actions[: command.actions]


def check_act(state: EpisodeState, action: Action, thought: str) -> None:
    """An act must have its thought, be possible here, and lie on the screen."""
    if is_thought_missing(state, thought):
        raise CommandRejected("thought_required", "say why before you act")
    if action.kind not in CONTROL_KINDS:
        check_machine_action(state, action)


def is_thought_missing(state: EpisodeState, thought: str) -> bool:
    """Whether a step needs a thought that is not written yet."""
    return state.thought_required and not state.thought_later and not thought.strip()


def check_machine_action(state: EpisodeState, action: Action) -> None:
    """An action for the machine must fit the task's steps, the machine and the screen."""
    check_step_limit(state)
    if (page := current_page(state)) is not None and page.truncated:
        raise CommandRejected("time_over", "the time of the page's task is over")
    check_supported(state, (action.kind,))
    check_on_screen(state, action)


def check_autopilot_action(state: EpisodeState, best: Proposal) -> None:
    """The autopilot does machine actions only. Replies that end the episode, ask a question or cannot be read need a
    person."""
    if best.action is None:
        raise CommandRejected("unparsed_proposal", "this candidate is no action")
    if any(action.kind in CONTROL_KINDS for action in best.actions):
        raise CommandRejected("unsupported_action", "a person decides about the end")
    if (page := current_page(state)) is not None and page.done:
        raise CommandRejected("page_done", "the page has ended by itself")
    if best.safety_checks and not state.unattended_safety_checks:
        raise CommandRejected("safety_check_unacknowledged", "a person must look at what its provider asks to check")
    for action in best.actions:
        check_machine_action(state, action)


def invalid_reply_error(state: EpisodeState, best: Proposal) -> ActionError | None:
    """The fault of the policy in an unusable reply; None if the reply ends the episode, or if nothing can be done."""
    page = current_page(state)
    if ends_episode(best) or (page is not None and page.over) or step_limit_reached(state):
        return None
    if best.action is None:
        why = best.error
        return ActionError(code=why.code, message=why.message) if why else None
    if any(isinstance(action, CallUser) for action in best.actions):
        return ActionError(code="nobody_there", message="nobody is there to be asked")
    try:
        for action in best.actions:
            check_machine_action(state, action)
    except CommandRejected as rejection:
        return ActionError(code=rejection.code, message=str(rejection))
    return None


def ends_episode(proposal: Proposal) -> bool:
    """Whether a candidate ends the episode, alone or after other actions."""
    return any(isinstance(action, FINAL_ACTIONS) for action in proposal.actions)


def count_invalid_replies(state: EpisodeState) -> int:
    """How many of the latest steps in a row had a reply without an action."""
    return len(
        list(takewhile(lambda step: isinstance(step.action, NoAction), reversed(drop_undone_steps(state.steps))))
    )


def check_takeover(state: EpisodeState, command: Takeover) -> None:
    """A takeover needs a machine that accepts gestures. If it ends with an open gesture, that gesture needs its
    thought."""
    if command.on:
        check_step_limit(state)
        return check_supported(state, ("gesture",))
    if not state.takeover:
        raise CommandRejected("not_in_takeover", "there is no takeover to end")
    thought = command.thought or (state.pending.thought if state.pending else "")
    if state.pending and is_thought_missing(state, thought):
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
    """The machine must be able to go back, and there must be a step to undo."""
    if not state.can_undo:
        raise CommandRejected("cannot_undo", "this machine has no way back")
    if not drop_undone_steps(state.steps):
        raise CommandRejected("cannot_undo", "nothing has been done yet")
    if state.undo_blocked:
        raise CommandRejected("cannot_undo", NOT_REMEMBERED)


def check_time_scale(state: EpisodeState) -> None:
    """Only a page with its own clock can have another time scale."""
    page = current_page(state)
    if page is None or page.clock == "real":
        raise CommandRejected("unsupported_action", "this machine's time is everybody's")


def current_page(state: EpisodeState) -> BrowserPage | None:
    """The browser's page in the last observation."""
    return state.observation.page if state.observation else None


def step_limit_reached(state: EpisodeState) -> bool:
    """Whether the task allows no further step."""
    return len(drop_undone_steps(state.steps)) >= state.task.max_steps


def check_step_limit(state: EpisodeState) -> None:
    """Raises CommandRejected at the task's step limit."""
    if step_limit_reached(state):
        raise CommandRejected("step_limit", f"this task allows {state.task.max_steps} steps")


def check_supported(state: EpisodeState, kinds: Collection[str]) -> None:
    """The machine must accept each kind."""
    for kind in kinds:
        if kind not in state.capabilities:
            raise CommandRejected("unsupported_action", f"this machine cannot {kind}")


def check_on_screen(state: EpisodeState, action: Action) -> None:
    """Every point must lie on the latest picture."""
    observation = state.observation
    if observation is None:
        return
    outside = find_off_screen_point(action, observation.width, observation.height)
    if outside is not None:
        raise CommandRejected(
            "off_screen", f"({outside.x}, {outside.y}) is outside {observation.width}x{observation.height}"
        )


def find_proposal(state: EpisodeState, proposal_id: str) -> Proposal:
    """The candidate with this id. Raises CommandRejected if it is not among the current proposals."""
    for proposal in state.proposals:
        if proposal.id == proposal_id:
            return proposal
    raise CommandRejected("unknown_proposal", "this candidate is not on offer any more")
