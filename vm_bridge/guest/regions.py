"""Regions of the screen, as the X server keeps them (XFIXES); python-xlib lacks these requests."""

from typing import Any

from Xlib.display import Display
from Xlib.ext import xfixes
from Xlib.protocol import rq, structs

Extents = list[int]
"""Left, top, right and bottom."""


class _Create(rq.Request):  # type: ignore[misc]
    _request = rq.Struct(
        rq.Card8("opcode"),
        rq.Opcode(5),
        rq.RequestLength(),
        rq.Card32("region"),
        rq.List("rectangles", structs.Rectangle),
    )


class _Fetch(rq.ReplyRequest):  # type: ignore[misc]
    _request = rq.Struct(rq.Card8("opcode"), rq.Opcode(19), rq.RequestLength(), rq.Card32("region"))
    _reply = rq.Struct(
        rq.ReplyCode(),
        rq.Pad(1),
        rq.Card16("sequence_number"),
        rq.ReplyLength(),
        rq.Int16("x"),
        rq.Int16("y"),
        rq.Card16("width"),
        rq.Card16("height"),
        rq.Pad(16),
    )


class Region:
    """An empty one, to be filled by other requests under its `id`."""

    def __init__(self, display: Display) -> None:
        self._server: Any = display.display
        display.xfixes_query_version()
        self._opcode = self._server.get_extension_major(xfixes.extname)
        self.id: int = self._server.allocate_resource_id()
        _Create(display=self._server, opcode=self._opcode, region=self.id, rectangles=[])

    def extents(self) -> Extents:
        """The box around all of it; a round trip."""
        box = _Fetch(display=self._server, opcode=self._opcode, region=self.id)
        return [box.x, box.y, box.x + box.width, box.y + box.height]
