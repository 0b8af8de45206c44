#!/usr/bin/python3 -s
"""The phone's `screenrecord`: its display as H.264 for whoever reads. Like the real one it keeps the size it began
with, and shrinks the picture of a turned phone into it."""

import argparse
import os
import select
import sys
import time
from fractions import Fraction
from typing import Any

import av
from Xlib import display

from vm_bridge.guest.linux.screen_capture import ScreenCapture

MAX_SECONDS = 180
FPS = 30
KEY_FRAMES = 10 * FPS
CLOCK = Fraction(1, 1000)
BLACK = (16, 128, 128)


def record_screen(output: int, seconds: float, rate: int) -> None:
    """Write the picture whenever it changes, for so long."""
    screen = display.Display().screen()
    width, height = screen.width_in_pixels, screen.height_in_pixels
    memory = os.memfd_create("record")
    os.ftruncate(memory, width * height * 4)
    picture = ScreenCapture(memory, width, height, (0,))
    codec = _encoder(width & ~1, height & ~1, rate)
    began = time.monotonic()
    while (left := began + seconds - time.monotonic()) > 0:
        if not picture.sync():
            select.select([picture], [], [], left)
            continue
        turned = bool(picture.capture()["turned"])
        size = (height, width) if turned else (width, height)
        shown = _letterbox(os.pread(memory, width * height * 4, 0), *size, codec.width, codec.height)
        shown.pts, shown.time_base = int((time.monotonic() - began) * 1000), CLOCK
        for packet in codec.encode(shown):
            _write(output, bytes(packet))
        time.sleep(1 / FPS)  # no more pictures a second than that


def _encoder(width: int, height: int, rate: int) -> Any:
    codec = av.CodecContext.create("libx264", "w")
    codec.width, codec.height, codec.pix_fmt = width, height, "yuv420p"
    codec.time_base, codec.framerate, codec.gop_size, codec.bit_rate = CLOCK, Fraction(FPS), KEY_FRAMES, rate
    codec.options = {"preset": "ultrafast", "tune": "zerolatency"}
    return codec


def _letterbox(pixels: bytes, width: int, height: int, wide: int, high: int) -> Any:
    """BGRX pixels as a picture of the recording's size, with black beside what has another shape."""
    source = av.VideoFrame(width, height, "bgra")
    plane = source.planes[0]
    row = width * 4
    plane.update(b"".join(_padded(pixels[at : at + row], plane.line_size) for at in range(0, height * row, row)))
    if (width & ~1, height & ~1) == (wide, high):
        return source.reformat(wide, high, "yuv420p")
    scale = min(wide / width, high / height)
    inner = source.reformat(int(width * scale) & ~1, int(height * scale) & ~1, "yuv420p")
    left, top = (wide - inner.width) // 4 * 2, (high - inner.height) // 4 * 2
    whole = av.VideoFrame(wide, high, "yuv420p")
    for number, (part, into) in enumerate(zip(inner.planes, whole.planes, strict=True)):
        half = 1 if number == 0 else 2
        line, rows = into.line_size, bytearray(bytes([BLACK[number]]) * into.buffer_size)
        data = bytes(part)
        for y in range(inner.height // half):
            at = (top // half + y) * line + left // half
            rows[at : at + inner.width // half] = data[y * part.line_size :][: inner.width // half]
        into.update(bytes(rows))
    return whole


def _padded(row: bytes, size: int) -> bytes:
    return row + bytes(size - len(row))


def _write(output: int, data: bytes) -> None:
    while data:
        data = data[os.write(output, data) :]


def main() -> int:
    """The exit status; what is asked for is what the real program takes."""
    parser = argparse.ArgumentParser(prog="screenrecord")
    parser.add_argument("--output-format", choices=["h264"], required=True)
    parser.add_argument("--time-limit", type=int, default=MAX_SECONDS)
    parser.add_argument("--bit-rate", type=int, default=4_000_000)
    parser.add_argument("output", choices=["-"])
    given = parser.parse_args()
    if not 0 < given.time_limit <= MAX_SECONDS:
        parser.error(f"a recording takes 1 to {MAX_SECONDS} seconds")
    record_screen(sys.stdout.fileno(), given.time_limit, given.bit_rate)
    return 0


if __name__ == "__main__":
    sys.exit(main())
