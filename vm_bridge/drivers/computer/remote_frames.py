"""Frames of a guest that shares no memory: painted from the rows it sends."""

import zlib
from typing import Annotated

from pydantic import Base64Bytes, Field, ValidationError

from protocol.base import FrozenModel
from vm_bridge.drivers.computer.guest_link import SLOTS
from vm_bridge.guest.common import wire

BYTES_PER_PIXEL = 4


class _CompressedRows(FrozenModel):
    """Compressed rows of a slot, from a given row."""

    id: int
    slot: Annotated[int, Field(ge=0, lt=SLOTS)]
    top: Annotated[int, Field(ge=0)]
    data: Base64Bytes


class FrameCanvas:
    """Frame memory of a screen with this size (pixels); see `vm_bridge.drivers.computer.frames.FrameMemory`."""

    def __init__(self, width: int, height: int) -> None:
        self._stride, self._size = width * BYTES_PER_PIXEL, width * height * BYTES_PER_PIXEL
        self._frames = bytearray(self._size * SLOTS)

    def pixels(self, slot: int, size: int) -> memoryview:
        """See `FrameMemory.pixels`."""
        return memoryview(self._frames)[slot * size : (slot + 1) * size]

    def paint(self, message: wire.Message) -> None:
        """Draw rows. Raises WireError for rows that do not fit this screen."""
        try:
            rows = _CompressedRows.model_validate(message)
            unpacking = zlib.decompressobj()
            data = unpacking.decompress(rows.data, self._size + 1)
        except (ValidationError, zlib.error) as error:
            raise wire.WireError("no rows of a picture") from error
        begin, whole = rows.top * self._stride, len(data) % self._stride == 0
        if not whole or not unpacking.eof or begin + len(data) > self._size:
            raise wire.WireError("rows that are not of this picture")
        begin += rows.slot * self._size
        self._frames[begin : begin + len(data)] = data
