"""What a frame says of where it changed is true, and less than everything."""

import asyncio
import time
from collections.abc import AsyncIterator
from uuid import uuid4

import numpy as np

from protocol.actions.types import OpenApp, TypeText
from tests.waiting import eventually
from vm_bridge.hosts.local.sandbox import LocalSandbox
from vm_bridge.machine import Machine
from vm_bridge.sandbox import Frame

QUIET = 1.0
"""A picture that has not changed for so long has come to rest (seconds)."""


class Viewer:
    """Keeps the first picture, and puts on it what every later one says has changed."""

    def __init__(self, frames: AsyncIterator[Frame]) -> None:
        self._frames = frames
        self.kept = self.last = np.zeros((0, 0, 4), np.uint8)
        self.shares: list[float] = []
        """How much of the picture each frame changed."""
        self._came_at = 0.0

    async def follow(self) -> None:
        async for frame in self._frames:
            self.last = np.frombuffer(frame.pixels, np.uint8).reshape(frame.height, frame.width, 4).copy()
            if not self.kept.size:
                self.kept = self.last.copy()
            left, top, right, bottom = frame.changed or (0, 0, frame.width, frame.height)
            self.kept[top:bottom, left:right] = self.last[top:bottom, left:right]
            self.shares.append((right - left) * (bottom - top) / (frame.width * frame.height))
            self._came_at = time.monotonic()

    async def wait_for_last(self, pictures: int) -> None:
        """Returns when so many came, and no more."""
        await eventually(lambda: len(self.shares) >= pictures and time.monotonic() > self._came_at + QUIET)


async def test_what_changed_put_on_what_was_there_gives_the_picture(desktop: LocalSandbox, machine: Machine) -> None:
    assert desktop.frames is not None
    await machine.perform(uuid4().hex, OpenApp(name="terminal"))
    async with desktop.frames.subscribe(fps=30) as frames:
        viewer = Viewer(frames)
        following = asyncio.create_task(viewer.follow())
        try:
            await viewer.wait_for_last(1)
            for text in ("seq 30\n", "x"):
                before = len(viewer.shares)
                await machine.perform(uuid4().hex, TypeText(text=text))
                await viewer.wait_for_last(before + 1)
                assert np.array_equal(viewer.kept, viewer.last)
        finally:
            following.cancel()
            await asyncio.wait({following})
    assert viewer.shares[-1] < 0.1, "a letter is a small part of the screen"
