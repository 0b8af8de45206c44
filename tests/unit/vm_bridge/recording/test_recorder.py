"""Recordings of a fake screen: playable at any moment, true to the clock, in parts, and kept within bounds."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import av
import numpy as np
import pytest

from tests.waiting import eventually
from vm_bridge.errors import UnknownRecording, UnsupportedAction
from vm_bridge.recording import recorder as recorder_module
from vm_bridge.recording import writer as tape_module
from vm_bridge.recording.recorder import Recorder
from vm_bridge.simulators.fake.sandbox import FakeSandbox
from vm_bridge.simulators.fake.screen import FakeScreen
from vm_bridge.streams.broadcast import BroadcastRegistry


@pytest.fixture
def sandbox() -> FakeSandbox:
    return FakeSandbox("desktop", width=320, height=240)


@pytest.fixture
async def recorder(tmp_path: Path, sandbox: FakeSandbox) -> AsyncIterator[Recorder]:
    recorder = Recorder(tmp_path, BroadcastRegistry(fps=60, bitrate=2_000_000))
    yield recorder
    await recorder.close()
    await eventually(lambda: sandbox.screen.viewers == 0)


def paint(screen: FakeScreen, shade: int) -> None:
    screen.pixels[:, :, :3] = shade
    screen.touch()


def noise(screen: FakeScreen, seed: int) -> None:
    screen.pixels[:] = np.random.default_rng(seed).integers(0, 255, screen.pixels.shape, np.uint8)
    screen.touch()


def shades(path: Path) -> list[tuple[float, int]]:
    """When each picture of a file is shown (seconds), and its grey."""
    with av.open(str(path)) as file:
        return [(frame.time or 0.0, int(frame.to_ndarray(format="gray")[120, 160])) for frame in file.decode(video=0)]


async def wait_for_shade(path: Path, shade: int) -> None:
    """Wait until the growing file holds a picture of that shade."""

    def there() -> bool:
        try:
            return any(abs(found - shade) < 12 for _, found in shades(path))
        except av.FFmpegError:  # nothing is written yet
            return False

    await eventually(there)


async def test_a_recording_shows_what_was_there_in_its_order(recorder: Recorder, sandbox: FakeSandbox) -> None:
    paint(sandbox.screen, 20)
    begun = recorder.start(sandbox)
    assert begun.running
    for shade in (100, 180):
        await asyncio.sleep(0.1)
        paint(sandbox.screen, shade)
    await asyncio.sleep(0.1)
    ended = await recorder.stop(sandbox.id)
    assert ended is not None
    assert (ended.id, ended.running, len(ended.parts)) == (begun.id, False, 1)
    (part,) = ended.parts
    assert part.ended_at is not None
    pictures = shades(recorder.part(begun.id, 0))
    greys = [grey for _, grey in pictures]
    assert greys == sorted(greys)
    assert [abs(greys[0] - 20) < 12, abs(greys[-1] - 180) < 12] == [True, True]
    with av.open(str(recorder.part(begun.id, 0))) as file:
        lasts = (file.duration or 0) / 1e6
    assert lasts == pytest.approx((part.ended_at - part.started_at).total_seconds(), abs=0.05)
    assert part.size == recorder.part(begun.id, 0).stat().st_size


async def test_a_second_start_goes_on_and_a_second_stop_does_nothing(recorder: Recorder, sandbox: FakeSandbox) -> None:
    begun = recorder.start(sandbox)
    assert recorder.start(sandbox).id == begun.id
    assert await recorder.stop(sandbox.id) is not None
    assert await recorder.stop(sandbox.id) is None
    assert recorder.start(sandbox).id != begun.id


async def test_a_start_while_another_ends_is_a_new_recording(recorder: Recorder, sandbox: FakeSandbox) -> None:
    first = recorder.start(sandbox).id
    await eventually(lambda: recorder.find(first).parts)
    ending = asyncio.create_task(recorder.stop(sandbox.id))
    await asyncio.sleep(0)
    second = recorder.start(sandbox).id
    assert second != first
    assert await ending is not None
    await eventually(lambda: recorder.find(second).parts)
    assert recorder.find(second).running


async def test_a_file_can_be_played_while_it_is_written(
    recorder: Recorder, sandbox: FakeSandbox, tmp_path: Path
) -> None:
    """So a killed bridge leaves all but the last second."""
    paint(sandbox.screen, 40)
    key = recorder.start(sandbox).id
    path = tmp_path / key / "0.mp4"
    await eventually(path.exists)

    async def play() -> None:
        for number in range(10_000):
            noise(sandbox.screen, number)
            await asyncio.sleep(0.02)

    playing = asyncio.create_task(play())
    await wait_for_shade(path, 40)
    assert recorder.find(key).parts[0].ended_at is None
    killed = path.read_bytes()
    playing.cancel()
    (tmp_path / "killed.mp4").write_bytes(killed)
    assert len(shades(tmp_path / "killed.mp4")) > 1
    again = Recorder(tmp_path, BroadcastRegistry(fps=60, bitrate=2_000_000))
    assert not again.find(key).running, "another bridge finds it and knows that it has ended"


async def test_a_large_part_is_followed_by_another(
    recorder: Recorder, sandbox: FakeSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tape_module, "MAX_PART_BYTES", 20_000)
    key = recorder.start(sandbox).id
    number = 0
    while len(recorder.find(key).parts) < 3:
        number += 1
        noise(sandbox.screen, number)
        await asyncio.sleep(0.01)
    ended = await recorder.stop(sandbox.id)
    assert ended is not None
    for part, following in zip(ended.parts, ended.parts[1:], strict=False):
        assert part.ended_at is not None
        assert part.ended_at <= following.started_at or (part.ended_at - following.started_at).total_seconds() < 0.5
        assert shades(recorder.part(key, part.number))


async def test_a_recording_has_a_bound(
    recorder: Recorder, sandbox: FakeSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tape_module, "MAX_RECORDING_BYTES", 10_000)
    key = recorder.start(sandbox).id
    number = 0
    while recorder.find(key).running:
        number += 1
        noise(sandbox.screen, number)
        await asyncio.sleep(0.01)
    assert recorder.find(key).parts[0].ended_at is not None
    await eventually(lambda: sandbox.screen.viewers == 0)


async def test_key_frames_come_as_the_picture_moves(
    recorder: Recorder, sandbox: FakeSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tape_module, "FRAMES_PER_KEY_FRAME", 5)
    key = recorder.start(sandbox).id
    for number in range(80):
        noise(sandbox.screen, number)
        await asyncio.sleep(0.02)
    await recorder.stop(sandbox.id)
    with av.open(str(recorder.part(key, 0))) as file:
        assert sum(packet.is_keyframe for packet in file.demux(video=0)) > 1


async def test_the_end_of_the_machine_ends_it_well(recorder: Recorder, sandbox: FakeSandbox) -> None:
    paint(sandbox.screen, 90)
    key = recorder.start(sandbox).id
    await eventually(lambda: recorder.find(key).parts)
    sandbox.crash()
    await eventually(lambda: not recorder.find(key).running)
    assert recorder.find(key).parts[0].ended_at is not None
    assert shades(recorder.part(key, 0))


async def test_a_machine_without_a_picture_is_not_recorded(recorder: Recorder) -> None:
    blind = FakeSandbox("terminal")
    blind.frames = None
    with pytest.raises(UnsupportedAction):
        recorder.start(blind)


async def test_what_was_fetched_is_removed_but_not_while_it_runs(recorder: Recorder, sandbox: FakeSandbox) -> None:
    key = recorder.start(sandbox).id
    with pytest.raises(UnsupportedAction):
        recorder.forget(key)
    await recorder.stop(sandbox.id)
    recorder.forget(key)
    recorder.forget(key)
    with pytest.raises(UnknownRecording):
        recorder.find(key)
    with pytest.raises(UnknownRecording):
        recorder.part(key, 0)


async def test_the_oldest_are_given_up_for_room(
    recorder: Recorder, sandbox: FakeSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = recorder.start(sandbox).id
    await eventually(lambda: recorder.find(first).parts)
    await recorder.stop(sandbox.id)
    monkeypatch.setattr(recorder_module, "MAX_TOTAL_BYTES", 10)
    second = recorder.start(sandbox).id
    with pytest.raises(UnknownRecording):
        recorder.find(first)
    assert recorder.find(second).running
