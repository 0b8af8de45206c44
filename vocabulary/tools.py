"""What a machine offers to be called by name: its MCP servers' tools."""

from typing import Annotated

from pydantic import AfterValidator, StringConstraints

from vocabulary.base import Frozen, JsonObject, json_within

MAX_SCHEMA = 32_000
"""Longest schema of a tool (characters of JSON)."""


class Tool(Frozen):
    """One callable: `server.tool`, what it does, and the JSON Schema of its arguments."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    description: Annotated[str, StringConstraints(max_length=4_000)] = ""
    parameters: Annotated[JsonObject, AfterValidator(json_within(MAX_SCHEMA))] = {}
