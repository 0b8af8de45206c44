"""A prompt text with placeholders: a dialect's own, or the one that a model's makers publish."""

import re
from collections.abc import Callable, Mapping
from typing import Self

from pydantic import Field, model_validator

from protocol.base import FrozenModel

MAX_PROMPT_CHARACTERS, MAX_TASK_CHARACTERS = 40_000, 20_000
PLACEHOLDERS = ("opening", "actions", "language", "instruction", "width", "height", "steps", "screen")
_PLACEHOLDER = re.compile(r"\{\{([A-Za-z_]\w*)\}\}|\{([A-Za-z_]\w*)\}")
"""`{word}`, which is filled in, or `{{word}}`, which the model reads as {word}. Other braces are as they are."""


class PromptTemplate(FrozenModel):
    """What a model is told before its first screen.

    Places to fill in, in either text: `{instruction}`; `{language}` of its thoughts; `{width}` and `{height}` of the
    space its points lie in; `{actions}`, a line for each kind of action that the machine can do; `{opening}`, who it is
    and where it works. In `task` also `{steps}`: steps whose screens are no longer shown, a line each, which are then
    no turns of their own; and `{screen}`: the first screen that is shown, in the same message.
    """

    prompt: str = Field(min_length=1, max_length=MAX_PROMPT_CHARACTERS)
    """The user's first message, or the system's where `task` is given."""
    task: str = Field(default="", max_length=MAX_TASK_CHARACTERS)
    """The user's first message."""

    @model_validator(mode="after")
    def _can_be_filled(self) -> Self:
        in_prompt, in_task = _placeholders(self.prompt), _placeholders(self.task)
        for name in (*in_prompt, *in_task):
            if name not in PLACEHOLDERS:
                known = ", ".join(f"{{{each}}}" for each in PLACEHOLDERS)
                raise ValueError(
                    f"{{{name}}} is nothing that can be filled in: there are {known}. "
                    f"Write {{{{{name}}}}} where the model is to read {{{name}}}."
                )
        if "instruction" not in (*in_prompt, *in_task):
            raise ValueError("{instruction} is missing: the model would not know its task")
        if {"steps", "screen"}.intersection(in_prompt):
            raise ValueError("{steps} and {screen} are for the user's first message")
        if in_task.count("screen") > 1:
            raise ValueError("{screen} is there more than once")
        return self

    @property
    def lists_steps(self) -> bool:
        """Whether steps without a screen are listed in the first message."""
        return "steps" in _placeholders(self.task)

    @property
    def shows_screen(self) -> bool:
        """Whether the first screen is part of the first message."""
        return "screen" in _placeholders(self.task)

    def fill(self, values: Mapping[str, Callable[[], str]]) -> tuple[str, tuple[str, ...]]:
        """The prompt, and the task: its text before the first screen and the one after it, where that is part of it.

        Args:
            values: What goes where, by the placeholder; asked for once each at most, and only where it is needed.
        """
        filled: dict[str, str] = {}

        def value(name: str) -> str:
            if name not in filled:
                filled[name] = values[name]()
            return filled[name]

        before, *after = re.split(r"(?<!\{)\{screen\}(?!\})", self.task)
        return _fill(self.prompt, value), tuple(_fill(part, value) for part in (before, *after))


def _placeholders(text: str) -> tuple[str, ...]:
    return tuple(found[2] for found in _PLACEHOLDER.finditer(text) if found[2])


def _fill(text: str, value: Callable[[str], str]) -> str:
    return _PLACEHOLDER.sub(lambda found: value(found[2]) if found[2] else f"{{{found[1]}}}", text)
