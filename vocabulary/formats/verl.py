"""verl's rows: messages for supervised training, and prompts with what a reward function compares a reply to.

Its mask goes by roles only: the supervised rows have one assistant's turn, with the history as text before it.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from vocabulary.formats.checks import mask_check
from vocabulary.formats.record import Choice, Format, LeftOut, Record, record_or_reason
from vocabulary.formats.special_words import VERL
from vocabulary.formats.telling import Told, reply_text, told_of, turns_of
from vocabulary.trajectories import Trajectory

SOURCE = "pilothouse"


def supervised(trajectory: Trajectory, choice: Choice) -> Iterator[Record | LeftOut]:
    """One row a step."""
    for told in told_of(trajectory, choice):
        yield record_or_reason(told.key, partial(_supervised, told))


def reinforcement(trajectory: Trajectory, choice: Choice) -> Iterator[Record | LeftOut]:
    """One prompt a step; the ground truth is the act that was done, as the platform writes it."""
    for told in told_of(trajectory, choice):
        yield record_or_reason(told.key, partial(_reinforcement, told, trajectory, choice))


def _supervised(told: Told) -> Record:
    messages = [*_asked(told), {"role": "assistant", "content": reply_text(told.target, told, VERL)}]
    mask_check((message["role"] == "assistant" for message in messages), told.key)
    return Record(told.key, told.images, row={"messages": messages})


def _reinforcement(told: Told, trajectory: Trajectory, choice: Choice) -> Record:
    step = told.step
    truth = step.action.model_dump_json()
    return Record(
        told.key,
        told.images,
        row={
            "data_source": SOURCE,
            "prompt": _asked(told),
            "ability": trajectory.task.platform,
            "reward_model": {"style": "rule", "ground_truth": truth},
            "extra_info": {
                "split": choice.split,
                "index": step.index,
                "trajectory_id": trajectory.id,
                "task_id": trajectory.task.id,
                "dialect": choice.dialect.name,
                "width": step.before.width,
                "height": step.before.height,
            },
        },
    )


def _asked(told: Told) -> list[dict[str, Any]]:
    """The conversation as one turn of the user's, the assistant's own turns quoted in it."""
    told_turns = [turn.text if turn.role == "user" else f"Your turn was:\n{turn.text}" for turn in turns_of(told, VERL)]
    return [{"role": "user", "content": "\n\n".join(told_turns)}]


SFT = Format("verl_sft", "table", supervised, dialect=True)
RL = Format("verl_rl", "table", reinforcement, dialect=True)
