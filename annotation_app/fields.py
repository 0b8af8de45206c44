"""A model field that stores one pydantic value as its JSON text.

The column is text instead of `jsonb`, because output of models and machines may hold NUL characters, which `jsonb`
refuses. Fields that are searched have columns of their own.
"""

import json
import math
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from django.db import models
from pydantic import TypeAdapter, ValidationError

T = TypeVar("T")
NON_FINITE_REPLACEMENTS: Mapping[str, float] = {"NaN": 0.0, "Infinity": 9999.0, "-Infinity": -9999.0}
"""Replaces non-finite numbers where a number is required. Model servers write -9999 for a probability of 0."""


class DocumentField(models.TextField[T, T], Generic[T]):
    """Stores a value of the given type; reads return that type."""

    _pyi_private_set_type: Any  # for the type checker; the adapter checks what is read

    def __init__(self, of: Any, **options: Any) -> None:
        self.of = of
        self.adapter: TypeAdapter[T] = TypeAdapter(of)
        super().__init__(**options)

    def clone(self) -> Any:
        """Migrations see a plain text column, because the shape belongs to the code and not to the schema."""
        _name, _path, args, options = self.deconstruct()
        return models.TextField(*args, **options)

    def from_db_value(self, value: str | None, *_: Any) -> T | None:
        return None if value is None else parse_document(self.adapter, value)

    def get_prep_value(self, value: T | None) -> str | None:
        return None if value is None else self.adapter.dump_json(value).decode()


def parse_document(adapter: TypeAdapter[T], text: str) -> T:
    """Parse a stored value. Databases of earlier releases hold NaN and Infinity. They read as null, or as a finite
    number if the type has no null. Raises ValidationError."""
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
    """The value with non-finite numbers replaced by these numbers, else by null."""
    if isinstance(value, float) and not math.isfinite(value):
        return numbers.get("NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity")
    if isinstance(value, dict):
        return {key: _replace_non_finite(each, numbers) for key, each in value.items()}
    return [_replace_non_finite(each, numbers) for each in value] if isinstance(value, list) else value
