"""A picture that is expected ends the wait for rest: not one before the act, and not one that goes again at once."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

from protocol.actions.types import Click
from protocol.blobs import BlobRef
from vm_bridge.drivers.computer.driver import ComputerDriver
from vm_bridge.drivers.computer.early_end import end_at
from vm_bridge.drivers.computer.frames import GuestScreen
from vm_bridge.drivers.computer.guest_link import SLOTS, FrameRef, GuestLink, ObserveReply, PerformReply
from vm_bridge.drivers.frame_watcher import CapturedFrame, ExpectedPicture, FrameWatcher
from vm_bridge.sandbox import Frame

WIDTH, HEIGHT = 64, 64


def pixels(grey: int) -> bytes:
    return bytes([grey]) * (WIDTH * HEIGHT * 4)


def encode(shot: CapturedFrame) -> bytes:
    return shot.pixels


def ref_of(grey: int) -> BlobRef:
    return BlobRef.of(pixels(grey), "image/jpeg")


class Screen:
    """Shows one grey after the other, each when it is told to."""

    def __init__(self) -> None:
        self.shown: asyncio.Queue[int] = asyncio.Queue()

    @asynccontextmanager
    async def subscribe(self, *, fps: float) -> AsyncIterator[AsyncIterator[Frame]]:
        yield self._frames()

    async def _frames(self) -> AsyncIterator[Frame]:
        serial = 0
        while True:
            grey = await self.shown.get()
            serial += 1
            yield Frame(serial, time.time(), WIDTH, HEIGHT, memoryview(pixels(grey)))


async def test_the_wait_ends_at_the_picture() -> None:
    screen, watch = Screen(), FrameWatcher()
    async with screen.subscribe(fps=30) as frames:
        keeping = asyncio.create_task(watch.keep(frames))
        screen.shown.put_nowait(1)
        await watch.begin()
        awaited = ExpectedPicture(ref_of(3), encode)
        resting = asyncio.create_task(
            watch.settle(asyncio.Event(), since=time.monotonic(), quiet=60, limit=60, awaited=awaited)
        )
        screen.shown.put_nowait(2)
        screen.shown.put_nowait(3)
        assert await asyncio.wait_for(resting, 10) == "rested"
        assert watch.shot.pixels == pixels(3)
        keeping.cancel()


async def test_a_settle_is_skipped_once_the_picture_is_shown() -> None:
    screen, skipped = Screen(), asyncio.Event()

    async def skip() -> None:
        skipped.set()

    screen.shown.put_nowait(1)
    async with end_at(ref_of(2), screen, encode, skip) as shown:
        assert not shown.is_set()
        screen.shown.put_nowait(2)
        await asyncio.wait_for(skipped.wait(), 10)
        assert shown.is_set()


async def test_a_picture_that_is_there_before_the_act_skips_nothing() -> None:
    screen = Screen()

    async def skip() -> None:
        raise AssertionError("nothing is skipped")

    screen.shown.put_nowait(2)
    async with end_at(ref_of(2), screen, encode, skip) as shown:
        screen.shown.put_nowait(1)
        screen.shown.put_nowait(2)
        await screen_is_read(screen)
    assert not shown.is_set()


async def screen_is_read(screen: Screen) -> None:
    """Give who watches the screen the time to see all of it, if somebody does."""
    for _ in range(100):
        if screen.shown.empty():
            return
        await asyncio.sleep(0)


class FlickeringGuest:
    """A guest that shows a second picture while it acts, and a third one by the time it is captured."""

    def __init__(self, memory: bytearray) -> None:
        self.memory = memory
        self.calls: list[str] = []
        self.gone = False
        self.looks = 1
        self.acted = asyncio.Event()
        self.hurried = asyncio.Event()

    async def call(self, name: str, answer: type[Any], **given: Any) -> Any:
        self.calls.append(name)
        if name == "frame":
            return await self._frame(given["serial"])
        if name == "hurry":
            self.hurried.set()
            return answer()
        if name == "perform":
            before = self._look(1)
            self.looks = 2
            self.acted.set()
            await self.hurried.wait()
            return PerformReply(
                before=before, after=self._look(3), rest="hurried", settle_ms=5.0, error=None, attachment=None
            )
        return ObserveReply(after=self._look(4), rest="rested", settle_ms=7.0)

    async def _frame(self, serial: int) -> FrameRef:
        if serial == self.looks == 1:
            await self.acted.wait()
        elif serial == self.looks:
            await asyncio.Event().wait()
        return self._look(self.looks)

    def _look(self, serial: int) -> FrameRef:
        size = WIDTH * HEIGHT * 4
        slot = serial % SLOTS
        self.memory[slot * size : (slot + 1) * size] = pixels(serial * 40)
        return FrameRef(slot=slot, serial=serial, at=time.time())


class Memory:
    def __init__(self) -> None:
        self.data = bytearray(WIDTH * HEIGHT * 4 * SLOTS)

    def pixels(self, slot: int, size: int) -> memoryview:
        return memoryview(self.data)[slot * size : (slot + 1) * size]


async def test_a_picture_that_goes_again_is_not_taken_for_rest() -> None:
    driver, memory = ComputerDriver({}), Memory()
    guest = FlickeringGuest(memory.data)
    screen = GuestScreen(memory, WIDTH, HEIGHT)
    driver.attach(cast(GuestLink, guest), screen, 1)
    expected = BlobRef.of(driver.pictures.encode(CapturedFrame(1, 0.0, WIDTH, HEIGHT, pixels(2 * 40))), "image/jpeg")
    done = await driver.perform(1, "flickers-0001", Click(x=1, y=1), settle=True, expected=expected)
    assert guest.calls.count("observe") == 1, "it is looked at once more"
    assert (done.after.rest, done.after.settle_ms) == ("rested", 12.0)
    assert done.after.screenshot != expected
    driver.frames.close()
