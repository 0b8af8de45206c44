"""The values of secrets in what a machine answers, replaced by the secrets' names."""

from collections.abc import Mapping

from protocol.trajectory.observations import ActionError, Observation

MIN_SECRET_LENGTH = 4
"""Characters of a value that is looked for in answers; a shorter one is part of too many words."""


def mask_secrets(observation: Observation, values: Mapping[str, str]) -> Observation:
    """What a machine shows in words, with the names for the values; pictures stay as they are."""
    original = {name: getattr(observation, name) for name in ("accessibility", "url", "text")}
    hidden = {name: None if text is None else mask_text(text, values) for name, text in original.items()}
    return observation if hidden == original else observation.model_copy(update=hidden)


def mask_error(error: ActionError | None, values: Mapping[str, str]) -> ActionError | None:
    """The same for why an act failed."""
    return error and error.model_copy(update={"message": mask_text(error.message, values)})


def mask_text(text: str, values: Mapping[str, str]) -> str:
    """The text with the names for the values; of two where one is in the other, the longer is found first."""
    for name, value in sorted(values.items(), key=lambda each: -len(each[1])):
        if len(value) >= MIN_SECRET_LENGTH:
            text = text.replace(value, f"secret:{name}")
    return text
