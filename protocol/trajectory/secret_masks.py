"""Replaces the values of secrets in a machine's answers by their names."""

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from protocol.base import FrozenModel
from protocol.trajectory.observations import ActionError, BrowserPage, Observation

Model = TypeVar("Model", bound=FrozenModel)

MIN_SECRET_LENGTH = 4
"""Length of the shortest value that is masked; shorter ones are part of too many words."""


def mask_secrets(observation: Observation, values: Mapping[str, str]) -> Observation:
    """The observation with names for values in its texts; pictures stay as they are."""
    page = None if observation.page is None else _mask_page(observation.page, values)
    return _mask_fields(observation, ("accessibility", "url", "text"), values, page=page)


def mask_error(error: ActionError | None, values: Mapping[str, str]) -> ActionError | None:
    """The error with names for values in its message."""
    return error and error.model_copy(update={"message": mask_text(error.message, values)})


def mask_text(text: str, values: Mapping[str, str]) -> str:
    """The text with the names for the values, also as JSON escapes them.

    Of two values where one is in the other, the longer is found first.
    """
    spellings = (
        (spelling, name)
        for name, value in values.items()
        if len(value) >= MIN_SECRET_LENGTH
        for spelling in {value, *(json.dumps(value, ensure_ascii=only_ascii)[1:-1] for only_ascii in (False, True))}
    )
    for spelling, name in sorted(spellings, key=lambda each: -len(each[0])):
        text = text.replace(spelling, f"secret:{name}")
    return text


def mask_json(value: Any, values: Mapping[str, str]) -> Any:
    """A JSON value whose texts have the names for the values."""
    if isinstance(value, str):
        return mask_text(value, values)
    if isinstance(value, list | tuple):
        return [mask_json(item, values) for item in value]
    if isinstance(value, dict):
        return {name: mask_json(item, values) for name, item in value.items()}
    return value


def _mask_page(page: BrowserPage, values: Mapping[str, str]) -> BrowserPage:
    tabs = tuple(_mask_fields(tab, ("title", "url"), values) for tab in page.tabs)
    events = tuple(_mask_fields(event, ("text",), values) for event in page.events)
    return _mask_fields(page, ("title", "verifier_error", "description"), values, tabs=tabs, events=events)


def _mask_fields(model: Model, names: tuple[str, ...], values: Mapping[str, str], **fields: object) -> Model:
    """The model with these texts masked and these other fields; itself where nothing changes."""
    texts = {name: getattr(model, name) for name in names}
    fields |= {name: None if text is None else mask_text(text, values) for name, text in texts.items()}
    changed = any(getattr(model, name) != value for name, value in fields.items())
    return model.model_copy(update=fields) if changed else model
