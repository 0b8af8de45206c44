"""A model field that holds one pydantic value as its JSON text.

Text and not `jsonb`, because what models and machines say may hold NUL characters and infinities, which
`jsonb` refuses; what is searched for has a column of its own.
"""

from typing import Any, Generic, TypeVar

from django.db import models
from pydantic import TypeAdapter

T = TypeVar("T")


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
        return None if value is None else self.adapter.validate_json(value)

    def get_prep_value(self, value: T | None) -> str | None:
        return None if value is None else self.adapter.dump_json(value).decode()
