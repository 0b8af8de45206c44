"""What a frame says of where it changed is true, and less than everything."""

import asyncio
from contextlib import suppress
from uuid import uuid4

import numpy as np

from vm_bridge.hosts.localsandbox import LocalSandbox
from vm_bridge.machine import Machine
from vocabulary.actions import OpenApp, TypeText

QUIET, BOUND = 1.0, 5.0
"""A picture that has not changed for so long has come to rest: after an act, and while one goes on (seconds)."""


async def test_what_changed_put_on_what_was_there_gives_the_picture(desktop: LocalSandbox, machine: Machine) -> None:
    assert desktop.frames is not None
    await machine.perform(uuid4().hex, OpenApp(name="terminal"))
    async with desktop.frames.subscribe(fps=30) as frames:
        first = await anext(frames)
        kept = np.frombuffer(first.pixels, np.uint8).reshape(first.height, first.width, 4).copy()
        last = kept.copy()
        shares: list[float] = []
        typing = asyncio.create_task(machine.perform(uuid4().hex, TypeText(text="seq 30\n")))
        with suppress(TimeoutError):
            while True:
                # The act takes its time before and after the picture changes.
                frame = await asyncio.wait_for(anext(frames), QUIET if typing.done() else BOUND)
                left, top, right, bottom = frame.changed or (0, 0, frame.width, frame.height)
                last = np.frombuffer(frame.pixels, np.uint8).reshape(frame.height, frame.width, 4).copy()
                kept[top:bottom, left:right] = last[top:bottom, left:right]
                shares.append((right - left) * (bottom - top) / (frame.width * frame.height))
        await typing
    assert np.array_equal(kept, last)
    assert shares
    assert min(shares) < 0.25
