"""A model field that holds one pydantic value as its JSON text.

Text and not `jsonb`, because what models and machines say may hold NUL characters, which `jsonb` refuses; what is
searched for has a column of its own.
"""

import json
import math
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from django.db import models
from pydantic import TypeAdapter, ValidationError

T = TypeVar("T")
NON_FINITE_REPLACEMENTS: Mapping[str, float] = {"NaN": 0.0, "Infinity": 9999.0, "-Infinity": -9999.0}
"""What stands for numbers that are none where a number has to be; model servers write -9999 for a probability of 0."""


class DocumentField(models.TextField[T, T], Generic[T]):
    """Stores a value of the type it is given; reads give that type back."""

    _pyi_private_set_type: Any  # what the type checker lets in; the adapter checks what comes out

    def __init__(self, of: Any, **options: Any) -> None:
        self.of = of
        self.adapter: TypeAdapter[T] = TypeAdapter(of)
        super().__init__(**options)

    def clone(self) -> Any:
        """Migrations see a plain text column: the shape belongs to the code, not to the schema."""
        _name, _path, args, options = self.deconstruct()
        return models.TextField(*args, **options)

    def from_db_value(self, value: str | None, *_: Any) -> T | None:
        return None if value is None else parse_document(self.adapter, value)

    def get_prep_value(self, value: T | None) -> str | None:
        return None if value is None else self.adapter.dump_json(value).decode()


def parse_document(adapter: TypeAdapter[T], text: str) -> T:
    """A stored value. Databases of earlier releases hold NaN and Infinity: they read as null, or as a finite number
    where the type has no null. Raises ValidationError."""
    try:
        return adapter.validate_json(text)
    except ValidationError:
        value = json.loads(text, parse_constant=float)
        if value == (plain := _replace_non_finite(value, {})):
            raise
    try:
        return adapter.validate_json(json.dumps(plain))
    except ValidationError:
        return adapter.validate_json(json.dumps(_replace_non_finite(value, NON_FINITE_REPLACEMENTS)))


def _replace_non_finite(value: Any, numbers: Mapping[str, float]) -> Any:
    """The value with these numbers, else null, in place of those that are not finite."""
    if isinstance(value, float) and not math.isfinite(value):
        return numbers.get("NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity")
    if isinstance(value, dict):
        return {key: _replace_non_finite(each, numbers) for key, each in value.items()}
    return [_replace_non_finite(each, numbers) for each in value] if isinstance(value, list) else value
