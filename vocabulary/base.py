"""The base class of every shared type: frozen, and strict about unknown fields."""

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """An immutable value; an undeclared field is a schema bug, so it fails at construction."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_serialization_defaults_required=True,
        ser_json_inf_nan="constants",
    )
