"""Secrets of tasks: actions name them as `secret:NAME`, and the annotator confirms them before a policy uses them."""

import re
from collections.abc import Iterator

from pydantic import BaseModel, Field

from protocol.base import FrozenModel

SECRET_PLACEHOLDER = re.compile(r"secret:([A-Z][A-Z0-9_]{0,63})")
"""What stands for a secret's value in an action."""


class SecretUse(FrozenModel):
    """A secret at a place."""

    name: str
    host: str
    """Of the page in front (`host` or `host:port`); empty where none is known."""
    application: str = ""
    """The application in front; empty where the machine does not tell."""


class SecretRequest(FrozenModel):
    """A policy's action that waits until the annotator confirms the secrets in it."""

    proposal_id: str
    uses: tuple[SecretUse, ...]
    kind: str
    """Of the action."""
    thought: str = ""
    """Why, in the words that go with the action."""
    continued_characters: int = 0
    """Characters of the thought that the annotator took from the policy's continuation."""
    autopilot: bool = False
    """Whether the policy acts by itself; else the annotator accepted the proposal."""
    actions: int | None = Field(default=None, ge=1)
    """How many of the proposal's actions the annotator accepted, from the first; None for all of them."""


def find_secret_names(action: BaseModel) -> tuple[str, ...]:
    """The names of the secrets that an action asks for, each once, in order."""
    return tuple(
        dict.fromkeys(name for text in _texts(action.model_dump()) for name in SECRET_PLACEHOLDER.findall(text))
    )


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)
