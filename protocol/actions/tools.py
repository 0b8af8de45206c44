"""Tools that a machine offers by name, from its MCP servers."""

from typing import Annotated

from pydantic import AfterValidator, StringConstraints

from protocol.base import FrozenModel, JsonObject, limit_json_length

MAX_SCHEMA = 32_000
"""Longest schema of a tool (characters of JSON)."""


class Tool(FrozenModel):
    """One callable: `server.tool`, what it does, and the JSON Schema of its arguments."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    description: Annotated[str, StringConstraints(max_length=4_000)] = ""
    parameters: Annotated[JsonObject, AfterValidator(limit_json_length(MAX_SCHEMA))] = {}
