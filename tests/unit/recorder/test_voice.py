"""Sound on the time line: drift, lost samples, a busy computer, a microphone that goes away."""

import random
import threading
from pathlib import Path

import pytest

from recorder.pilothouse_recorder.audio.assembly import RATE, SAMPLE_NS, Block, Chunk, ChunkAssembler, Loss
from recorder.pilothouse_recorder.audio.capture import SILENCE_DB, VoiceCapture, peak_db
from recorder.pilothouse_recorder.clocks import MS, SECOND
from recorder.pilothouse_recorder.delay_buffer import DELAY_NS, DelayBuffer
from recorder.pilothouse_recorder.errors import RecorderError
from recorder.pilothouse_recorder.events import Event
from recorder.pilothouse_recorder.review import cut
from recorder.pilothouse_recorder.sessions import SessionWriter, open_session

BLOCK = RATE // 10
SAMPLES = b"\1\0" * BLOCK
LATENCY_NS = 12 * MS
ID = "6d3a1c52-7d0e-4c47-9f0f-4e3c0d7b6a11"


class Device:
    """Blocks of a device whose clock is wrong, which loses samples, and which is read late at times."""

    def __init__(self, ppm: float = 0.0) -> None:
        self._rng = random.Random(1)
        self.set_rate(ppm)
        self.true_ns = 0.0
        self.read_ns = 0

    def set_rate(self, ppm: float) -> None:
        self._sample_ns = SAMPLE_NS * (1 + ppm / 1e6)

    def block(self, late_ns: int = 0) -> Block:
        self.true_ns += BLOCK * self._sample_ns
        jitter = self._rng.randrange(8 * MS)
        self.read_ns = max(int(self.true_ns) + LATENCY_NS + jitter + late_ns, self.read_ns)
        return Block(SAMPLES, self.read_ns, LATENCY_NS + jitter)


def times(assembler: ChunkAssembler, device: Device, blocks: int) -> list[int]:
    """How far each chunk's end is from its true time."""
    errors = []
    for _ in range(blocks):
        for one in assembler.add(device.block()):
            assert isinstance(one, Chunk)
            errors.append(int(one.t_ns + one.duration_ns - device.true_ns))
    return errors


def test_a_clock_that_drifts_is_followed_over_half_an_hour() -> None:
    errors = times(ChunkAssembler(), Device(ppm=200), 6_000)
    assert len(errors) == 1_200
    assert max(map(abs, errors)) < 5 * MS


def test_a_rate_that_changes_while_it_records_is_followed() -> None:
    assembler, device = ChunkAssembler(), Device(ppm=200)
    times(assembler, device, 600)
    device.set_rate(ppm=-300)
    errors = times(assembler, device, 3_000)
    assert len(errors) == 600
    assert max(map(abs, errors)) < 5 * MS


def test_lost_samples_are_one_explicit_gap_and_later_times_stay_true() -> None:
    assembler, device = ChunkAssembler(), Device(ppm=-200)
    times(assembler, device, 303)
    device.true_ns += 2 * SECOND
    found = [one for _ in range(12) for one in assembler.add(device.block())]
    losses = [one for one in found if isinstance(one, Loss)]
    assert [one.reason for one in losses] == ["lost"]
    assert abs(losses[0].end_ns - losses[0].begin_ns - 2 * SECOND) < 5 * MS
    chunks = [one for one in found if isinstance(one, Chunk)]
    assert chunks[0].t_ns + chunks[0].duration_ns == losses[0].begin_ns
    assert chunks[1].t_ns == losses[0].end_ns
    assert max(map(abs, times(assembler, device, 50))) < 5 * MS


def test_blocks_that_are_read_late_lose_nothing() -> None:
    assembler, device = ChunkAssembler(), Device()
    times(assembler, device, 100)
    waits = [
        one for late in (900, 800, 700, 600, 500, 400, 300, 200, 100) for one in assembler.add(device.block(late * MS))
    ]
    waits += [one for _ in range(6) for one in assembler.add(device.block())]
    assert all(isinstance(one, Chunk) for one in waits)
    assert sum(one.duration_ns for one in waits if isinstance(one, Chunk)) == 15 * SECOND // 10
    assert max(map(abs, times(assembler, device, 50))) < 5 * MS


def test_a_backlog_of_many_seconds_is_no_loss() -> None:
    assembler, device = ChunkAssembler(), Device()
    times(assembler, device, 100)
    found = [one for late in range(8_000, 0, -100) for one in assembler.add(device.block(late * MS))]
    found += [one for _ in range(11) for one in assembler.add(device.block())]
    assert all(isinstance(one, Chunk) for one in found)
    assert sum(one.duration_ns for one in found if isinstance(one, Chunk)) == 91 * SECOND // 10
    assert max(map(abs, times(assembler, device, 50))) < 5 * MS


class Unplugged:
    """A microphone that gives one chunk and then goes away."""

    def __init__(self, opened: threading.Event) -> None:
        self._device, self._left = Device(), 5
        opened.set()

    def read(self) -> Block:
        if not self._left:
            raise RecorderError("no_microphone", "gone")
        self._left -= 1
        return self._device.block()

    def close(self) -> None:
        """Nothing is open."""


def test_a_microphone_that_goes_away_is_opened_again_and_leaves_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recorder.pilothouse_recorder.audio.capture.RETRY_SECONDS", 0.0)
    opened = [threading.Event() for _ in range(3)]
    left = list(opened)

    def open_source(_: str) -> Unplugged:
        if not left:
            raise RecorderError("no_microphone", "none")
        return Unplugged(left.pop(0))

    capture = VoiceCapture(open_source=open_source)
    assert opened[-1].wait(10)
    capture.close()
    taken = capture.take()
    assert [type(one) for one in taken[:4]] == [Chunk, Loss, Chunk, Loss]
    assert {one.reason for one in taken if isinstance(one, Loss)} == {"no_microphone"}
    with pytest.raises(RecorderError, match="none"):
        VoiceCapture(open_source=open_source)


def test_sound_waits_until_its_end_is_a_second_old() -> None:
    buffer = DelayBuffer()
    buffer.add(Event("audio.chunk", 0, "capture", 0, {"duration_ns": SECOND // 2}), b"sound")
    assert not buffer.release(DELAY_NS)
    assert len(buffer.release(DELAY_NS + SECOND // 2)) == 1


def test_a_cut_removes_every_sample_that_it_touches(tmp_path: Path) -> None:
    writer = SessionWriter(tmp_path / ID, {"id": ID, "instruction": "x", "clock": {"monotonic_ns": 0}})
    for place in range(4):
        data = {"duration_ns": SECOND // 2, "rate": RATE}
        writer.append(Event("audio.chunk", place * SECOND // 2, "capture", 0, data), b"secret"[place:])
    writer.finish(None)
    cut(open_session(tmp_path / ID), 0.7, 1.1)
    session = open_session(tmp_path / ID)
    assert [one["t_ns"] for one in session.events if one["kind"] == "audio.chunk"] == [0, 3 * SECOND // 2]
    assert sorted(path.name for path in (tmp_path / ID / "audio").iterdir()) == ["0.pcm", "1500000000.pcm"]


def test_the_level_of_sound_is_in_decibels_below_full_scale() -> None:
    assert (peak_db(b"\0\0" * 9), peak_db(b"\0\x40"), peak_db(b"\0\x80")) == (SILENCE_DB, -6.0, 0.0)
