"""A session's live picture: a viewer gets what it shows, whatever became of the viewer before."""

import asyncio
import threading
from typing import Any

import numpy as np
import pytest
import simplejpeg

from vm_bridge.browser import frame_stream
from vm_bridge.browser.frame_stream import FrameStream

PICTURE: bytes = simplejpeg.encode_jpeg(np.zeros((4, 4, 3), np.uint8), colorspace="RGB")


class Still:
    """A session whose page never changes."""

    async def picture(self, kind: str, quality: int, *, passive: bool) -> bytes:
        return PICTURE


async def test_a_viewer_that_left_while_a_picture_was_read_takes_it_from_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read, begun, goto = frame_stream._decode, asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def slow(jpeg: bytes) -> Any:
        loop.call_soon_threadsafe(begun.set)
        goto.wait(10)
        return read(jpeg)

    monkeypatch.setattr(frame_stream, "_decode", slow)
    shown: Any = Still()
    frames = FrameStream(shown)
    async with frames.subscribe(fps=30):
        await asyncio.wait_for(begun.wait(), 10)
    goto.set()
    async with frames.subscribe(fps=30) as seen:
        assert (await asyncio.wait_for(anext(seen), 10)).width == 4
    await frames.close()
