"""What a machine offers to be called by name: its MCP servers' tools."""

from typing import Annotated

from pydantic import JsonValue, StringConstraints

from vocabulary.base import Frozen


class Tool(Frozen):
    """One callable: `server.tool`, what it does, and the JSON Schema of its arguments."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    description: str = ""
    parameters: dict[str, JsonValue] = {}
