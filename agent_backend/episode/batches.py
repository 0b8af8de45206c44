"""Runs several actions of one reply in order. Each has its own intent and step. The first action that cannot be done
stops the rest.

The step of one action and the intent of the next are stored at once, so that a crash leaves either nothing or exactly
one action open. The actions that were stopped are stored with the last step that was done, as its `not_done`.
"""

import hashlib
from datetime import UTC, datetime

from agent_backend.episode.commands import check_machine_action, current_page
from agent_backend.errors import CommandRejected
from agent_backend.interfaces import EpisodeCommand, Intent
from protocol.actions.types import CONTROL_KINDS, Action
from protocol.messages.events import (
    Act,
    Autopilot,
    EpisodeState,
    FinishEpisode,
    LeaveEpisode,
    Pause,
    Takeover,
    Undo,
)
from protocol.trajectory.steps import Step

INTERRUPTING_COMMANDS: tuple[type[EpisodeCommand], ...] = (
    *(Act, Pause, Takeover, Undo, FinishEpisode, LeaveEpisode, Autopilot),
)
"""Commands that stop the actions of a reply that have not begun: the person wants something else."""


def next_intent(intent: Intent) -> Intent:
    """The intent of the action that follows in the same reply. The reply's thought belongs to its first step."""
    assert intent.batch is not None
    index = intent.batch.index + 1
    return intent.model_copy(
        update={
            "command_id": _derived_command_id(intent, index),
            "index": intent.index + 1,
            "thought": "",
            "continued_characters": 0,
            "action": intent.further_actions[0],
            "further_actions": intent.further_actions[1:],
            "batch": intent.batch.model_copy(update={"index": index}),
            "started_at": datetime.now(UTC),
            "decide_ms": None,
        }
    )


def may_continue(state: EpisodeState, step: Step, action: Action) -> bool:
    """Whether the next action of a reply may be done after this step, which the state does not hold yet."""
    if step.error is not None or step.after is None:
        return False
    after = state.model_copy(update={"steps": (*state.steps, step), "observation": step.after})
    page = current_page(after)
    if page is not None and page.over:
        return False
    try:
        if action.kind not in CONTROL_KINDS:
            check_machine_action(after, action)
    except CommandRejected:
        return False
    return True


def _derived_command_id(intent: Intent, index: int) -> str:
    """The id of a later action, derived from the first one's: the same after a crash, and no longer than other ids."""
    assert intent.batch is not None
    root = intent.command_id if intent.batch.index == 1 else intent.command_id.rsplit("-", 1)[0]
    if intent.batch.index == 1:
        root = f"batch-{hashlib.sha256(root.encode()).hexdigest()[:40]}"
    return f"{root}-{index}"
