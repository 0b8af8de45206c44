"""A phone's own pictures, and when they rest."""

import asyncio
import struct
import time
from collections.abc import AsyncIterator

import pytest

from vm_bridge.drivers.frame_watcher import FrameWatcher
from vm_bridge.drivers.phone.adb import AdbRequestFailed
from vm_bridge.drivers.phone.frames import decode_screencap
from vm_bridge.errors import MachineGone
from vm_bridge.sandbox import Frame

RGBA = bytes((1, 2, 3, 255, 4, 5, 6, 255))
BGRX = bytes((3, 2, 1, 255, 6, 5, 4, 255))


@pytest.mark.parametrize("header", [struct.pack("<III", 2, 1, 1), struct.pack("<IIII", 2, 1, 1, 0)])
def test_both_forms_of_a_captured_picture_are_read(header: bytes) -> None:
    assert decode_screencap(header + RGBA) == (2, 1, BGRX)


@pytest.mark.parametrize("captured", [b"", b"no screen", struct.pack("<IIII", 2, 2, 1, 0) + RGBA, bytes(16)])
def test_what_is_no_picture_is_refused(captured: bytes) -> None:
    with pytest.raises(AdbRequestFailed):
        decode_screencap(captured)


def frame(serial: int) -> Frame:
    return Frame(serial, time.time(), 2, 1, memoryview(BGRX))


async def make_watcher(*frames: Frame) -> FrameWatcher:
    async def source() -> AsyncIterator[Frame]:
        for each in frames:
            yield each

    watch = FrameWatcher()
    await watch.keep(source())
    return watch


async def test_a_picture_that_stands_still_rests() -> None:
    watch = await make_watcher(frame(1))
    rest = await watch.settle(asyncio.Event(), since=time.monotonic(), quiet=0.01, limit=60)
    assert rest == "rested"


async def test_one_that_never_stands_still_times_out() -> None:
    watch = await make_watcher(frame(1))
    rest = await watch.settle(asyncio.Event(), since=time.monotonic(), quiet=60, limit=0.01)
    assert rest == "timeout"


async def test_a_wait_for_rest_can_be_cut_short() -> None:
    watch, skip_settle = await make_watcher(frame(1)), asyncio.Event()
    waiting = asyncio.create_task(watch.settle(skip_settle, since=time.monotonic(), quiet=60, limit=60))
    await asyncio.sleep(0)
    skip_settle.set()
    assert await asyncio.wait_for(waiting, 5) == "hurried"


async def test_a_source_without_a_picture_is_a_machine_that_is_gone() -> None:
    watch = await make_watcher()
    with pytest.raises(MachineGone):
        await watch.begin()
