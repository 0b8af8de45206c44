"""verl's rows: messages for supervised training, and prompts with what a reward function compares a reply to.

Its mask goes by roles only: the supervised rows have one assistant's turn, with the history as text before it.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from protocol.formats.records import ExportFormat, ExportOptions, Record, SkippedRow, build_record
from protocol.formats.row_checks import check_loss_mask
from protocol.formats.special_tokens import VERL
from protocol.formats.training_examples import TrainingExample, escape_reply_text, merge_turns, training_examples
from protocol.trajectory.trajectories import ORIGINAL, Trajectory

SOURCE = "pilothouse"


def supervised(trajectory: Trajectory, options: ExportOptions) -> Iterator[Record | SkippedRow]:
    """One row a step."""
    for example in training_examples(trajectory, options):
        yield build_record(example.key, partial(_supervised, example, trajectory.variant))


def reinforcement(trajectory: Trajectory, options: ExportOptions) -> Iterator[Record | SkippedRow]:
    """One prompt a step; the ground truth is the act that was done, as the platform writes it. A variant has none: its
    acts are those of the original."""
    if trajectory.variant != ORIGINAL:
        return
    for example in training_examples(trajectory, options):
        yield build_record(example.key, partial(_reinforcement, example, trajectory, options))


def _supervised(example: TrainingExample, variant: str) -> Record:
    messages = [
        *_user_turn(example),
        {"role": "assistant", "content": escape_reply_text(example.target, example, VERL)},
    ]
    check_loss_mask((message["role"] == "assistant" for message in messages), example.key)
    return Record(example.key, example.images, row={"messages": messages, "variant": variant})


def _reinforcement(example: TrainingExample, trajectory: Trajectory, options: ExportOptions) -> Record:
    step = example.step
    truth = step.action.model_dump_json()
    return Record(
        example.key,
        example.images,
        row={
            "data_source": SOURCE,
            "prompt": _user_turn(example),
            "ability": trajectory.task.platform,
            "reward_model": {"style": "rule", "ground_truth": truth},
            "extra_info": {
                "split": options.split,
                "index": step.index,
                "trajectory_id": trajectory.id,
                "task_id": trajectory.task.id,
                "dialect": options.dialect.name,
                "width": step.before.width,
                "height": step.before.height,
            },
        },
    )


def _user_turn(example: TrainingExample) -> list[dict[str, Any]]:
    """The conversation as one turn of the user's, the assistant's own turns quoted in it."""
    turn_texts = [
        f"Your turn was:\n{turn.text}" if turn.role == "assistant" else turn.text for turn in merge_turns(example, VERL)
    ]
    return [{"role": "user", "content": "\n\n".join(turn_texts)}]


SFT = ExportFormat("verl_sft", "table", supervised, dialect=True)
RL = ExportFormat("verl_rl", "table", reinforcement, dialect=True)
