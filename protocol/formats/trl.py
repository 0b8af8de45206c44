"""TRL's rows: prompt and completion, preferences, judgements, and steps with a label each.

Prompt and completion, since TRL learns the completion alone by default and refuses a mask by turns for models that see.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from protocol.dialects.dialect import ChatMessage, TextPart
from protocol.formats.records import ExportFormat, ExportOptions, Record, SkippedRow, build_record
from protocol.formats.row_checks import check_image_count, check_special_tokens
from protocol.formats.special_tokens import TRL, escape_prompt_text
from protocol.formats.training_examples import (
    PreferencePair,
    RatedReply,
    TrainingExample,
    TrainingReply,
    escape_message_text,
    escape_reply_text,
    preference_pairs,
    rated_replies,
    training_examples,
)
from protocol.trajectory.trajectories import ORIGINAL, Trajectory, without_undone_steps


def supervised(trajectory: Trajectory, options: ExportOptions) -> Iterator[Record | SkippedRow]:
    """One row a step."""

    def row(example: TrainingExample) -> dict[str, Any]:
        return {"completion": _assistant_turn(example.target, example), "variant": trajectory.variant}

    for example in training_examples(trajectory, options):
        yield _record(example.key, example, partial(row, example))


def preferences(trajectory: Trajectory, options: ExportOptions) -> Iterator[Record | SkippedRow]:
    """One row a pair."""

    def row(one: PreferencePair) -> dict[str, Any]:
        return {
            "chosen": _assistant_turn(one.chosen, one.example),
            "rejected": _assistant_turn(one.rejected, one.example),
        }

    for number, one in preference_pairs(trajectory, options):
        yield _record(f"{one.example.key}-{number}", one.example, partial(row, one))


def unpaired_preferences(trajectory: Trajectory, options: ExportOptions) -> Iterator[Record | SkippedRow]:
    """One row a judged reply."""

    def row(one: RatedReply) -> dict[str, Any]:
        return {"completion": _assistant_turn(one.reply, one.example), "label": one.good}

    for number, one in rated_replies(trajectory, options):
        yield _record(f"{one.example.key}-{number}", one.example, partial(row, one))


def stepwise(trajectory: Trajectory, options: ExportOptions) -> Iterator[Record | SkippedRow]:
    """One row a trajectory whose end is known: its steps right where it succeeded; and one a refused proposal: what was
    done before it right, itself wrong. Text only, as the trainer of such rows reads. Of a variant there is none."""
    if trajectory.variant != ORIGINAL:
        return
    example = list(training_examples(trajectory, options))
    instruction = escape_prompt_text(without_undone_steps(trajectory).task.instruction, TRL)

    def row(done: list[TrainingExample], wrong: list[RatedReply], key: str) -> Record:
        completions = [escape_reply_text(one.target, one, TRL) for one in done]
        completions += [escape_reply_text(one.reply, one.example, TRL) for one in wrong]
        labels = [True] * len(done) + [False] * len(wrong)
        return Record(key, row={"prompt": instruction, "completions": completions, "labels": labels}, steps=len(labels))

    if example and trajectory.outcome == "success":
        key = f"{trajectory.id}-done"
        yield build_record(key, partial(row, example, [], key))
    for number, one in rated_replies(trajectory, options):
        if not one.good:
            before = [prior for prior in example if prior.step.index < one.example.step.index]
            key = f"{one.example.key}-{number}"
            yield build_record(key, partial(row, before, [one], key))


def _assistant_turn(reply: TrainingReply, example: TrainingExample) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": [{"type": "text", "text": escape_reply_text(reply, example, TRL)}]}]


def _message(message: ChatMessage, example: TrainingExample) -> dict[str, Any]:
    parts = [
        {"type": "text", "text": escape_message_text(part.text, message, example, TRL)}
        if isinstance(part, TextPart)
        else {"type": "image", "text": None}
        for part in message.content
    ]
    return {"role": message.role, "content": parts}


def _record(key: str, example: TrainingExample, row: Callable[[], dict[str, Any]]) -> Record | SkippedRow:
    def record() -> Record:
        prompt = [_message(message, example) for message in example.messages]
        parts = [part for message in prompt for part in message["content"]]
        check_image_count(sum(part["type"] == "image" for part in parts), example.images, key)
        words = (word for part in parts for word in TRL.words.findall(part["text"] or ""))
        check_special_tokens(words, 0, "", TRL, example.dialect)
        return Record(key, example.images, row={"prompt": prompt, **row()})

    return build_record(key, record)


SFT = ExportFormat("trl_sft", "table", supervised, dialect=True)
DPO = ExportFormat("trl_dpo", "table", preferences, dialect=True)
KTO = ExportFormat("trl_kto", "table", unpaired_preferences, dialect=True)
STEPWISE = ExportFormat("trl_stepwise", "table", stepwise, dialect=True)
