"""Ends the settle of an action as soon as the screen shows the expected picture."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from protocol.blobs import BlobRef
from vm_bridge.drivers.frame_watcher import CapturedFrame, ExpectedPicture, FrameWatcher, watch_frames
from vm_bridge.sandbox import FrameSource


@asynccontextmanager
async def end_at(
    expected: BlobRef | None,
    frames: FrameSource,
    encode: Callable[[CapturedFrame], bytes],
    skip_settle: Callable[[], Awaitable[None]],
) -> AsyncIterator[asyncio.Event]:
    """Skip the settle of the enclosed action when the screen shows the expected picture. The event reports that it did.

    A picture that is already there at the start does not count. Raises MachineGone if the machine returns no picture.
    """
    shown = asyncio.Event()
    if expected is None:
        yield shown
        return
    async with watch_frames(frames) as watch:
        awaited = ExpectedPicture(expected, encode)
        if await awaited.is_shown(watch.shot):
            yield shown
            return
        ending = asyncio.create_task(_end(watch, awaited, skip_settle, shown))
        try:
            yield shown
        finally:
            ending.cancel()
            await asyncio.gather(ending, return_exceptions=True)  # the action itself reports a machine that is gone


async def _end(
    watch: FrameWatcher, awaited: ExpectedPicture, skip_settle: Callable[[], Awaitable[None]], shown: asyncio.Event
) -> None:
    await watch.wait_for(awaited)
    shown.set()
    await skip_settle()
