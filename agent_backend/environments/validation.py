"""Parses requests of clients: actions and resets, with errors that name the field."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from agent_backend.environments.errors import EnvironmentRefusal
from agent_backend.environments.session import ResetRequest
from protocol.actions.types import ACTION_ADAPTER, Action

Model = TypeVar("Model", bound=BaseModel)


def parse_action(fields: Mapping[str, Any]) -> Action:
    """An action of the protocol. Raises EnvironmentRefusal (`invalid_request`)."""
    try:
        return ACTION_ADAPTER.validate_python(dict(fields))
    except ValidationError as error:
        raise _invalid_request(error) from None


def parse_reset(fields: Mapping[str, Any]) -> ResetRequest:
    """The options of a reset; unknown fields are refused. Raises EnvironmentRefusal (`invalid_request`)."""
    try:
        return ResetRequest.model_validate(dict(fields))
    except ValidationError as error:
        raise _invalid_request(error) from None


def parse_body(model: type[Model], body: bytes) -> Model:
    """A request's JSON body. Raises EnvironmentRefusal (`invalid_request`)."""
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        raise _invalid_request(error) from None


def _invalid_request(error: ValidationError) -> EnvironmentRefusal:
    """The refusal that names the invalid field and its fault, without repeating the input."""
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return EnvironmentRefusal("invalid_request", f"{place}: {first['msg']}" if place else first["msg"])
