"""The live picture of a phone reached by adb alone: what its `screenrecord` sends, decoded here."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import pytest_asyncio

from protocol.actions.types import OpenApp
from vm_bridge.drivers.phone import frames as phone_frames
from vm_bridge.drivers.phone.adb import Device
from vm_bridge.drivers.phone.frames import MAX_CAPTURE_BYTES, decode_screencap
from vm_bridge.hosts.phone.devices import IMAGE, DeviceHost
from vm_bridge.hosts.phone.simulated import PhoneSandbox
from vm_bridge.sandbox import Frame, Sandbox
from vm_bridge.simulators.phone.paths import TRUSTED_KEYS

BOUND = 60.0
LIKE = 6.0
"""How far the colours of a picture may lie from another's on average, of 255: what an encoder leaves."""
commands = (f"command-{number:04}" for number in itertools.count())


@pytest_asyncio.fixture
async def device(phone: PhoneSandbox, tmp_path: Path) -> AsyncIterator[Sandbox]:
    """A simulated phone in the place of a real one."""
    host = DeviceHost(tmp_path, [phone.address], [])
    await host.adb.start()
    await phone.environment(1).write(str(TRUSTED_KEYS), host.adb.public_key)
    yield await host.create(IMAGE)
    await host.close()


@pytest.fixture
def recordings(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Every command whose output is streamed."""
    asked: list[tuple[str, ...]] = []
    stream_output = Device.stream_output

    def noted(device: Device, *words: str) -> object:
        asked.append(words)
        return stream_output(device, *words)

    monkeypatch.setattr(Device, "stream_output", noted)
    return asked


def to_array(frame: Frame) -> npt.NDArray[np.int16]:
    pixels = np.frombuffer(frame.pixels, np.uint8).reshape(frame.height, frame.width, 4)
    return pixels[:, :, :3].astype(np.int16)


async def until_like(frames: AsyncIterator[Frame], phone: PhoneSandbox) -> Frame:
    """The first frame that shows what the phone shows at rest."""
    width, height, pixels = decode_screencap(await phone.device.raw("screencap", most=MAX_CAPTURE_BYTES))
    real = np.frombuffer(pixels, np.uint8).reshape(height, width, 4)[: height & ~1, : width & ~1, :3].astype(np.int16)
    async with asyncio.timeout(BOUND):
        async for frame in frames:
            if to_array(frame).shape == real.shape and np.abs(to_array(frame) - real).mean() < LIKE:
                return frame
    raise AssertionError("the picture ended")


async def test_viewers_see_what_the_phone_records(
    device: Sandbox, phone: PhoneSandbox, recordings: list[tuple[str, ...]]
) -> None:
    assert device.frames is not None
    async with device.frames.subscribe(fps=30) as frames, device.frames.subscribe(fps=30) as others:
        first = await until_like(frames, phone)
        assert (first.width, first.height) == (412, 914)
        opened = await device.bind(1).perform(next(commands), OpenApp(name="notes"))
        assert opened.error is None
        later = await until_like(frames, phone)
        assert later.serial > first.serial
        assert np.abs(to_array(first) - to_array(later)).mean() > LIKE
        await until_like(others, phone)
    assert len(recordings) == 1, "one for all"


async def test_a_turned_phone_is_shown_as_it_lies(device: Sandbox, phone: PhoneSandbox) -> None:
    assert device.frames is not None
    async with device.frames.subscribe(fps=30) as frames:
        await until_like(frames, phone)
        await phone.device.checked_output("settings", "put", "system", "user_rotation", "1")
        turned = await until_like(frames, phone)
    assert (turned.width, turned.height) == (914, 412)


async def test_a_recording_that_ends_is_begun_again(
    device: Sandbox, phone: PhoneSandbox, recordings: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    short = tuple("--time-limit=2" if word.startswith("--time-limit") else word for word in phone_frames.RECORD)
    monkeypatch.setattr(phone_frames, "RECORD", short)
    assert device.frames is not None
    async with device.frames.subscribe(fps=30) as frames, asyncio.timeout(BOUND):
        while len(recordings) < 3:
            await anext(frames)
        assert (await device.bind(1).perform(next(commands), OpenApp(name="clock"))).error is None
        await until_like(frames, phone)


async def test_without_a_recorder_viewers_see_captures(
    device: Sandbox, phone: PhoneSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(phone_frames, "RECORD", ("screenrecord-of-old",))
    assert device.frames is not None
    async with device.frames.subscribe(fps=30) as frames, asyncio.timeout(BOUND):
        frame = await anext(frames)
    assert (frame.width, frame.height) == (412, 915)
