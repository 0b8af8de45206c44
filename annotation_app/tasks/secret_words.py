"""What `secret:NAME` in an act stands for: put in on the way to a machine, and taken out of what it answers."""

import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from vocabulary.base import Frozen
from vocabulary.observations import ActionError, Observation

PLACEHOLDER = re.compile(r"secret:([A-Z][A-Z0-9_]{0,63})")
SHORTEST = 4
"""Characters of a value that is looked for in answers; a shorter one is part of too many words."""
A = TypeVar("A", bound=Frozen)


def revealed(action: A, values: Mapping[str, str]) -> A:
    """The act with the values in it; a name that nobody knows stays as it is."""
    told = action.model_dump()
    put = _mapped(told, lambda text: PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), text))
    return action if put == told else type(action).model_validate(put)


def concealed(observation: Observation, values: Mapping[str, str]) -> Observation:
    """What a machine shows in words, with the names for the values; pictures stay as they are."""
    told = {name: getattr(observation, name) for name in ("accessibility", "url", "text")}
    hidden = {name: None if text is None else concealed_text(text, values) for name, text in told.items()}
    return observation if hidden == told else observation.model_copy(update=hidden)


def concealed_error(error: ActionError | None, values: Mapping[str, str]) -> ActionError | None:
    """The same for why an act failed."""
    return error and error.model_copy(update={"message": concealed_text(error.message, values)})


def concealed_text(text: str, values: Mapping[str, str]) -> str:
    """The text with the names for the values; of two where one is in the other, the longer is found first."""
    for name, value in sorted(values.items(), key=lambda each: -len(each[1])):
        if len(value) >= SHORTEST:
            text = text.replace(value, f"secret:{name}")
    return text


def _mapped(value: object, change: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: each if key == "kind" else _mapped(each, change) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_mapped(each, change) for each in value)
    return value
