"""TRL's rows: prompt and completion, preferences, judgements, and steps with a label each.

Prompt and completion, since TRL learns the completion alone by default and refuses a mask by turns for models that see.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from vocabulary.dialect import ChatMessage, TextPart
from vocabulary.formats.checks import consumer_check, images_check
from vocabulary.formats.record import Choice, Format, LeftOut, Record, record_or_reason
from vocabulary.formats.special_words import TRL, prompt_text
from vocabulary.formats.telling import (
    Contrast,
    Judged,
    Reply,
    Told,
    contrasts_of,
    judged_of,
    part_text,
    reply_text,
    told_of,
)
from vocabulary.trajectories import Trajectory, trajectory_standing


def supervised(trajectory: Trajectory, choice: Choice) -> Iterator[Record | LeftOut]:
    """One row a step."""

    def row(told: Told) -> dict[str, Any]:
        return {"completion": _said(told.target, told)}

    for told in told_of(trajectory, choice):
        yield _record(told.key, told, partial(row, told))


def preferences(trajectory: Trajectory, choice: Choice) -> Iterator[Record | LeftOut]:
    """One row a pair."""

    def row(one: Contrast) -> dict[str, Any]:
        return {"chosen": _said(one.chosen, one.told), "rejected": _said(one.rejected, one.told)}

    for number, one in contrasts_of(trajectory, choice):
        yield _record(f"{one.told.key}-{number}", one.told, partial(row, one))


def judgements(trajectory: Trajectory, choice: Choice) -> Iterator[Record | LeftOut]:
    """One row a judged reply."""

    def row(one: Judged) -> dict[str, Any]:
        return {"completion": _said(one.reply, one.told), "label": one.good}

    for number, one in judged_of(trajectory, choice):
        yield _record(f"{one.told.key}-{number}", one.told, partial(row, one))


def stepwise(trajectory: Trajectory, choice: Choice) -> Iterator[Record | LeftOut]:
    """One row a trajectory whose end is known: its steps right where it succeeded; and one a refused proposal: what was
    done before it right, itself wrong. Text only, as the trainer of such rows reads."""
    told = list(told_of(trajectory, choice))
    instruction = prompt_text(trajectory_standing(trajectory).task.instruction, TRL)

    def row(done: list[Told], wrong: list[Judged], key: str) -> Record:
        completions = [reply_text(one.target, one, TRL) for one in done]
        completions += [reply_text(one.reply, one.told, TRL) for one in wrong]
        labels = [True] * len(done) + [False] * len(wrong)
        return Record(key, row={"prompt": instruction, "completions": completions, "labels": labels}, steps=len(labels))

    if told and trajectory.outcome == "success":
        key = f"{trajectory.id}-done"
        yield record_or_reason(key, partial(row, told, [], key))
    for number, one in judged_of(trajectory, choice):
        if not one.good:
            before = [prior for prior in told if prior.step.index < one.told.step.index]
            key = f"{one.told.key}-{number}"
            yield record_or_reason(key, partial(row, before, [one], key))


def _said(reply: Reply, told: Told) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": [{"type": "text", "text": reply_text(reply, told, TRL)}]}]


def _message(message: ChatMessage, told: Told) -> dict[str, Any]:
    parts = [
        {"type": "text", "text": part_text(part.text, message, told, TRL)}
        if isinstance(part, TextPart)
        else {"type": "image", "text": None}
        for part in message.content
    ]
    return {"role": message.role, "content": parts}


def _record(key: str, told: Told, row: Callable[[], dict[str, Any]]) -> Record | LeftOut:
    def record() -> Record:
        prompt = [_message(message, told) for message in told.messages]
        parts = [part for message in prompt for part in message["content"]]
        images_check(sum(part["type"] == "image" for part in parts), told.images, key)
        consumer_check((part["text"] or "" for part in parts), 0, "", TRL, told.dialect)
        return Record(key, told.images, row={"prompt": prompt, **row()})

    return record_or_reason(key, record)


SFT = Format("trl_sft", "table", supervised, dialect=True)
DPO = Format("trl_dpo", "table", preferences, dialect=True)
KTO = Format("trl_kto", "table", judgements, dialect=True)
STEPWISE = Format("trl_stepwise", "table", stepwise, dialect=True)
