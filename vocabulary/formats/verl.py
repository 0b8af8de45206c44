"""verl's rows: messages for supervised training, and prompts with what a reward function compares a reply to.

Its mask goes by roles only: the supervised rows have one assistant's turn, with the history as text before it.
"""

from collections.abc import Iterator
from typing import Any

from vocabulary.formats.checks import mask_check
from vocabulary.formats.record import Choice, Format, Record
from vocabulary.formats.telling import Told, told_of, turns_of
from vocabulary.trajectories import Trajectory

SOURCE = "pilothouse"


def supervised(trajectory: Trajectory, choice: Choice) -> Iterator[Record]:
    """One row a step."""
    for told in told_of(trajectory, choice):
        messages = [*_asked(told), {"role": "assistant", "content": told.target.replace("<image>", "< image >")}]
        mask_check((message["role"] == "assistant" for message in messages), told.key)
        yield Record(told.key, told.images, row={"messages": messages})


def reinforcement(trajectory: Trajectory, choice: Choice) -> Iterator[Record]:
    """One prompt a step; the ground truth is the act that was done, as the platform writes it."""
    for told in told_of(trajectory, choice):
        step = told.step
        truth = step.action.model_dump_json()
        yield Record(
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
    told_turns = [turn.text if turn.role == "user" else f"Your turn was:\n{turn.text}" for turn in turns_of(told)]
    return [{"role": "user", "content": "\n\n".join(told_turns)}]


SFT = Format("verl_sft", "table", supervised, dialect=True)
RL = Format("verl_rl", "table", reinforcement, dialect=True)
