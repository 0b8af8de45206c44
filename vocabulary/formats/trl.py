"""TRL's rows: prompt and completion, preferences, judgements, and steps with a label each.

Prompt and completion, since TRL learns the completion alone by default and refuses a mask by turns for models that see.
"""

from collections.abc import Iterator
from typing import Any

from vocabulary.dialect import ChatMessage, TextPart
from vocabulary.formats.checks import images_check
from vocabulary.formats.record import Choice, Format, Record
from vocabulary.formats.telling import Told, contrasts_of, judged_of, told_of
from vocabulary.trajectories import Trajectory, trajectory_standing


def supervised(trajectory: Trajectory, choice: Choice) -> Iterator[Record]:
    """One row a step."""
    for told in told_of(trajectory, choice):
        yield _record(told.key, told, {"completion": _said(told.target)})


def preferences(trajectory: Trajectory, choice: Choice) -> Iterator[Record]:
    """One row a pair."""
    for number, one in contrasts_of(trajectory, choice):
        row = {"chosen": _said(one.chosen), "rejected": _said(one.rejected)}
        yield _record(f"{one.told.key}-{number}", one.told, row)


def judgements(trajectory: Trajectory, choice: Choice) -> Iterator[Record]:
    """One row a judged reply."""
    for number, one in judged_of(trajectory, choice):
        yield _record(f"{one.told.key}-{number}", one.told, {"completion": _said(one.reply), "label": one.good})


def stepwise(trajectory: Trajectory, choice: Choice) -> Iterator[Record]:
    """One row a trajectory whose end is known: its steps right where it succeeded; and one a refused proposal: what was
    done before it right, itself wrong. Text only, as the trainer of such rows reads."""
    told = list(told_of(trajectory, choice))
    done = [one.target for one in told]
    if done and trajectory.outcome == "success":
        yield _steps(trajectory, f"{trajectory.id}-done", done, [True] * len(done))
    for number, one in judged_of(trajectory, choice):
        if not one.good:
            before = [prior.target for prior in told if prior.step.index < one.told.step.index]
            yield _steps(trajectory, f"{one.told.key}-{number}", [*before, one.reply], [True] * len(before) + [False])


def _steps(trajectory: Trajectory, key: str, completions: list[str], labels: list[bool]) -> Record:
    row = {"prompt": trajectory_standing(trajectory).task.instruction, "completions": completions, "labels": labels}
    return Record(key, row=row, steps=len(labels))


def _said(text: str) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": [{"type": "text", "text": text}]}]


def _message(message: ChatMessage) -> dict[str, Any]:
    parts = [
        {"type": "text", "text": part.text} if isinstance(part, TextPart) else {"type": "image", "text": None}
        for part in message.content
    ]
    return {"role": message.role, "content": parts}


def _record(key: str, told: Told, row: dict[str, Any]) -> Record:
    prompt = [_message(message) for message in told.messages]
    places = sum(part["type"] == "image" for message in prompt for part in message["content"])
    images_check(places, told.images, key)
    return Record(key, told.images, row={"prompt": prompt, **row})


SFT = Format("trl_sft", "table", supervised, dialect=True)
DPO = Format("trl_dpo", "table", preferences, dialect=True)
KTO = Format("trl_kto", "table", judgements, dialect=True)
STEPWISE = Format("trl_stepwise", "table", stepwise, dialect=True)
