"""A task's script: the candidates at each stage, and the executed actions that complete the stage."""

import json
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter

from protocol.actions.equivalence import equivalent
from protocol.actions.types import Action, CallUser
from protocol.base import FrozenModel
from protocol.dialects.dialect import ScreenSize

SCREEN = ScreenSize(width=1280, height=720)
"""The screen of the bundled desktop."""
TOLERANCE = 24
"""Pixels within which an executed point counts as the scripted one: about half an icon."""


class Line(FrozenModel):
    """One scripted candidate; `weight` is its share of the likelihood, a `mistake` never moves the script on."""

    thought: str
    action: Action
    weight: float = Field(default=1.0, gt=0)
    mistake: bool = False


class Stage(FrozenModel):
    """A point in the task: what is offered there, and what else a person may do to get past it."""

    lines: Annotated[tuple[Line, ...], Field(min_length=1)]
    also: tuple[Action, ...] = ()
    """Further actions that reach the next stage; a person's way around a mistake."""
    typed: bool = False
    """Whether any typed text reaches the next stage."""

    def completed_by(self, action: Action) -> bool:
        """Whether executing this action completes the stage."""
        if self.typed and action.kind == "type_text":
            return True
        expected = [line.action for line in self.lines if not line.mistake] + list(self.also)
        return any(equivalent(action, other, tolerance=TOLERANCE) for other in expected)


class Script(FrozenModel):
    """The stages of one task, found by its instruction; its points are pixels of `screen`."""

    task: str
    instruction: str
    screen: ScreenSize = SCREEN
    stages: Annotated[tuple[Stage, ...], Field(min_length=1)]

    def stage_after(self, executed: tuple[Action | None, ...]) -> Stage:
        """The stage reached by these actions (None: one no dialect could read).

        An action that completes the following stage also counts, because people take shortcuts.
        """
        position = 0
        for action in executed:
            if action is None:
                continue
            for ahead in (0, 1):
                if position + ahead < len(self.stages) - 1 and self.stages[position + ahead].completed_by(action):
                    position += ahead + 1
                    break
        return self.stages[position]


UNKNOWN_TASK_STAGE = Stage(
    lines=(
        Line(
            thought="I am a script and this task is not in it, so a person has to do it.",
            action=CallUser(message="This task is not in my script."),
        ),
    )
)
"""The stage for a task without a script."""

_SCRIPTS: TypeAdapter[tuple[Script, ...]] = TypeAdapter(tuple[Script, ...])


def load_scripts(path: Path) -> tuple[Script, ...]:
    """Every script of a JSON file. Raises ValidationError if it is malformed."""
    return _SCRIPTS.validate_python(json.loads(path.read_text(encoding="utf-8")))


def find_script(scripts: tuple[Script, ...], prompt: str) -> Script | None:
    """The script whose instruction is in the prompt; the one with the longest instruction if there are several."""
    found = [script for script in scripts if script.instruction in prompt]
    return max(found, key=lambda script: len(script.instruction), default=None)


def sample_lines(stage: Stage, n: int, *, turn: int = 0) -> tuple[Line, ...]:
    """`n` samples of a stage in proportion to the weights (largest remainder), most likely first.

    `turn` counts resamples of one request and shifts the remainders, so that a resample may differ.
    """
    total = sum(line.weight for line in stage.lines)
    exact = [line.weight / total * n for line in stage.lines]
    counts = [int(share) for share in exact]
    order = sorted(range(len(exact)), key=lambda i: exact[i] - counts[i], reverse=True)
    for k in range(n - sum(counts)):
        counts[order[(k + turn) % len(order)]] += 1
    ranked = sorted(zip(stage.lines, counts, strict=True), key=lambda pair: pair[0].weight, reverse=True)
    return tuple(line for line, count in ranked for _ in range(count))
