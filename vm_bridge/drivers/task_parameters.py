"""Parses a task's parameters for a computer: picture format, screen size, MCP servers."""

import re
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from protocol.trajectory.mcp_servers import MCP_SERVERS, McpServers
from protocol.trajectory.tasks import Task
from vm_bridge.errors import InvalidAction

ImageFormat = Literal["jpeg", "png"]
MIN_SIDE, MAX_WIDTH, MAX_HEIGHT = 200, 2560, 1600
"""Smallest and largest screen (pixels)."""
SIZE_PATTERN = re.compile(r"(\d{3,4})x(\d{3,4})")


_MCP_SERVERS: TypeAdapter[McpServers] = TypeAdapter(McpServers)


def parse_image_format(task: Task | None) -> ImageFormat:
    """`screenshot`; jpeg by default. Raises InvalidAction."""
    wanted = "jpeg" if task is None else task.parameters.get("screenshot", "jpeg")
    if wanted == "jpeg":
        return "jpeg"
    if wanted == "png":
        return "png"
    raise InvalidAction(f"screenshots are jpeg or png, not {wanted!r}")


def parse_screen_size(task: Task | None) -> tuple[int, int] | None:
    """`screen`, such as "1920x1080": width and height in pixels; None if absent. Raises InvalidAction."""
    wanted = None if task is None else task.parameters.get("screen")
    if wanted is None:
        return None
    size = SIZE_PATTERN.fullmatch(wanted) if isinstance(wanted, str) else None
    if size is not None:
        width, height = int(size[1]), int(size[2])
        if MIN_SIDE <= width <= MAX_WIDTH and MIN_SIDE <= height <= MAX_HEIGHT:
            return width, height
    raise InvalidAction(
        f"a screen is at least {MIN_SIDE}x{MIN_SIDE} and at most {MAX_WIDTH}x{MAX_HEIGHT}, not {wanted!r}"
    )


def parse_mcp_servers(task: Task | None) -> McpServers:
    """`mcp_servers`, in the shape `{name: {command, args, env}}` or `{name: {url, headers}}`; none if absent.

    Raises InvalidAction.
    """
    try:
        return _MCP_SERVERS.validate_python({} if task is None else task.parameters.get(MCP_SERVERS, {}))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise InvalidAction(f"mcp_servers: {where}: {first['msg']}") from None
