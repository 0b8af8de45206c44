"""The phone's display: its size, which turns, and its picture as a file."""

import mmap
import os
import struct
import zlib

from Xlib import display
from Xlib.ext import randr

from vm_bridge.guest.linux.screen_capture import FrameGrabber

COMPRESSION = 1


class Screen:
    """An X display of `width` by `height` pixels when the phone stands upright."""

    def __init__(self, width: int, height: int) -> None:
        self._display = display.Display()
        self._root = self._display.screen().root
        self._upright = (width, height)
        self._output = self._lit()
        self._memory = os.memfd_create("screen")
        os.ftruncate(self._memory, width * height * 4)
        self._pixels = mmap.mmap(self._memory, width * height * 4)
        self._grabber = FrameGrabber(self._memory, self._root.id, width, height)
        self.width, self.height = width, height

    def turn(self, quarters: int) -> None:
        """Stand it upright (0, 2) or lay it on its side (1, 3)."""
        size = self._upright if quarters % 2 == 0 else self._upright[::-1]
        if size == (self.width, self.height):
            return
        # The server knows no mode for a phone on its side, so its one output is dark then. Nobody minds.
        self._light(0, [])
        self.width, self.height = size
        self._root.xrandr_set_screen_size(*size, *(side // 4 for side in size))
        if size == self._upright:
            self._light(*self._output)
        self._display.sync()

    def _lit(self) -> tuple[int, list[int]]:
        """The mode and the outputs in use."""
        resources = self._root.xrandr_get_screen_resources()
        shown = self._display.xrandr_get_crtc_info(resources.crtcs[0], resources.config_timestamp)
        return shown.mode, shown.outputs

    def _light(self, mode: int, outputs: list[int]) -> None:
        resources = self._root.xrandr_get_screen_resources()
        crtc, timestamp = resources.crtcs[0], resources.config_timestamp
        self._display.xrandr_set_crtc_config(crtc, timestamp, 0, 0, mode, randr.Rotate_0, outputs)

    def raw(self) -> bytes:
        """The picture as `screencap` writes it: width, height, format and colour space, then RGBA."""
        return struct.pack("<IIII", self.width, self.height, 1, 0) + self._channels(4)

    def png(self) -> bytes:
        """The picture as a PNG file."""
        stride, rgb = self.width * 3, self._channels(3)
        rows = b"".join(b"\0" + rgb[start : start + stride] for start in range(0, len(rgb), stride))
        header = struct.pack(">IIBBBBB", self.width, self.height, 8, 2, 0, 0, 0)
        chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, COMPRESSION)), (b"IEND", b""))
        return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, body) for kind, body in chunks)

    def _channels(self, count: int) -> bytes:
        """The present pixels with three channels, or four of which the last is opaque."""
        self._grabber.grab(0, turned=(self.width, self.height) != self._upright)
        shown = bytes(self._pixels)
        wanted = bytearray(b"\xff") * (len(shown) // 4 * count)
        for channel in range(3):
            wanted[channel::count] = shown[2 - channel :: 4]
        return bytes(wanted)


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
