"""Reads a microphone in its own thread, and reopens the microphone after it was unplugged."""

import queue
import threading
from array import array
from collections.abc import Callable
from math import log10
from typing import Any

from ..clocks import now_ns
from ..errors import RecorderError
from .assembly import Chunk, ChunkAssembler, Loss
from .microphones import Source, open_microphone

RETRY_SECONDS = 1.0
JOIN_SECONDS = 2.0
FULL_SCALE = 32_768
SILENCE_DB, QUIET_DB = -96.0, -45.0
"""Peak level of no sound at all, and the highest peak level when the person is silent."""


class VoiceCapture:
    """Sound as it arrives. Raises RecorderError with `no_microphone` if there is none at the start."""

    def __init__(self, source: str = "", open_source: Callable[[str], Source] = open_microphone) -> None:
        self._source, self._open_source = source, open_source
        self._first: Source | None = self._open()
        self._ready: queue.SimpleQueue[Chunk | Loss] = queue.SimpleQueue()
        self._ended = threading.Event()
        self.present = True
        """Whether the microphone is connected now."""
        self._thread = threading.Thread(target=self._run, name="voice", daemon=True)
        self._thread.start()

    def _open(self) -> Source:
        return self._open_source(self._source)

    def take(self) -> list[Chunk | Loss]:
        """Chunks and losses completed since the last call, in order."""
        taken: list[Chunk | Loss] = []
        while not self._ready.empty():
            taken.append(self._ready.get())
        return taken

    def close(self) -> None:
        """Stop. `take` still returns what was read."""
        self._ended.set()
        self._thread.join(JOIN_SECONDS)

    def _run(self) -> None:
        gone_ns: int | None = None
        while not self._ended.is_set():
            try:
                source, self._first = self._first or self._open(), None
            except RecorderError:
                self._ended.wait(RETRY_SECONDS)
                continue
            if gone_ns is not None:
                self._ready.put(Loss(gone_ns, now_ns(), "no_microphone"))
            self.present = True
            self._read(source)
            gone_ns, self.present = now_ns(), False

    def _read(self, source: Source) -> None:
        """Read until closed, or until the microphone is gone."""
        assembler = ChunkAssembler()
        try:
            while not self._ended.is_set():
                for one in assembler.add(source.read()):
                    self._ready.put(one)
        except RecorderError:
            pass
        finally:
            source.close()
        for one in assembler.flush():
            self._ready.put(one)


def peak_db(samples: bytes) -> float:
    """The loudest sample in decibels below full scale; -96 is silence."""
    peak = max(map(abs, array("h", samples)), default=0)
    return round(20 * log10(peak / FULL_SCALE), 1) if peak else SILENCE_DB


def check_microphone(source: str, seconds: float) -> dict[str, Any]:
    """Listen for a moment. Reports the level and whether anything is heard. Raises RecorderError with
    `no_microphone`."""
    microphone = open_microphone(source)
    try:
        blocks = [microphone.read() for _ in range(max(1, round(seconds * 10)))]
    finally:
        microphone.close()
    level = peak_db(b"".join(block.samples for block in blocks))
    return {"peak_db": level, "heard": level > QUIET_DB, "latency_ms": round(blocks[-1].latency_ns / 1e6, 1)}
