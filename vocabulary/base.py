"""The base class of every shared type: frozen, and strict about unknown fields; and what JSON from outside may be."""

import json
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """An immutable value; an undeclared field is a schema bug, so it fails at construction."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_serialization_defaults_required=True,
        ser_json_inf_nan="constants",
    )


def json_within(most: int) -> Callable[[Any], Any]:
    """A check that a JSON value is at most so many characters long when it is written."""

    def check(value: Any) -> Any:
        if len(json.dumps(value)) > most:
            raise ValueError(f"the JSON has more than {most} characters")
        return value

    return check
