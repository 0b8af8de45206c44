"""Still frames over plain HTTP, where neither WebRTC nor VNC gets through."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import simplejpeg

from vm_bridge.sandbox import Frame, FrameSource

FPS = 5.0
QUALITY = 80
BOUNDARY = "frame"
MEDIA_TYPE = f"multipart/x-mixed-replace; boundary={BOUNDARY}"
STREAM_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
"""The second asks a reverse proxy (nginx) to pass each picture on at once."""
RESEND_SECONDS = 10.0
"""The last picture is sent again after so long without a change, so that a dead viewer is noticed (seconds)."""


async def stream_stills(source: FrameSource, over: asyncio.Event) -> AsyncIterator[bytes]:
    """JPEG parts as the picture changes, at most FPS a second, until the machine ends or `over` is set."""
    ended = asyncio.create_task(over.wait())
    try:
        async with source.subscribe(fps=FPS) as frames:
            async for part in _stream_parts(frames, ended):
                yield part
    finally:
        ended.cancel()


async def _stream_parts(frames: AsyncIterator[Frame], ended: "asyncio.Task[Literal[True]]") -> AsyncIterator[bytes]:
    part = b""
    pending: asyncio.Future[Frame | None] = asyncio.ensure_future(_copy_next_frame(frames))
    try:
        while True:
            either: set[asyncio.Future[Any]] = {pending, ended}
            await asyncio.wait(either, timeout=RESEND_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if ended.done():
                return
            if pending.done():
                frame = pending.result()
                if frame is None:
                    return
                part = await asyncio.to_thread(_encode_part, frame)
                pending = asyncio.ensure_future(_copy_next_frame(frames))
            yield part
    finally:
        pending.cancel()
        await asyncio.wait({pending})  # a source cannot close while it is asked


def _encode_part(frame: Frame) -> bytes:
    screen = np.frombuffer(frame.pixels, np.uint8).reshape(frame.height, frame.width, 4)
    data: bytes = simplejpeg.encode_jpeg(screen, quality=QUALITY, colorspace="BGRX", colorsubsampling="420")
    captured = int(frame.captured_at * 1000)
    head = (
        f"--{BOUNDARY}\r\nContent-Type: image/jpeg\r\nContent-Length: {len(data)}\r\nX-Captured-At: {captured}\r\n\r\n"
    )
    return head.encode() + data + b"\r\n"


async def _copy_next_frame(frames: AsyncIterator[Frame]) -> Frame | None:
    """A copy of the frame: viewers at a higher rate may overwrite the original during encoding."""
    frame = await anext(frames, None)
    return frame and replace(frame, pixels=memoryview(bytes(frame.pixels)))
