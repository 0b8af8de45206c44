"""Learns how late after an act a program that also changes by itself still shows what the act did.

A blinking caret or an animation hides later times from the census: a program shows the kernel only the next one.
So the first act that reaches such a program is watched for a while; what changed once or a few times is taken for
the act's doing, what kept changing for the habit.
"""

from collections import defaultdict
from collections.abc import Callable
from functools import cached_property
from typing import Any, Protocol

from vm_bridge.settle import ThreadSample, ThreadSamples, has_earlier_timer

LEARNING_SECONDS = 2.0
"""How long the first act that reaches such a program is watched (seconds)."""
PERIODIC_CHANGES = 3
"""A part of the screen that changes at least this often in that time does so by itself."""
MARGIN, GROWTH = 0.06, 1.15
"""What is added to the lateness seen, since the next may be a little later (seconds, factor)."""
TILE_WIDTH, TILE_HEIGHT = 64, 24
"""Parts in which the screen is compared (pixels)."""
PIXEL = 4

Tile = tuple[int, int]


class CaptureSource(Protocol):
    """What a watch needs of a picture."""

    def sync(self) -> bool:
        """Whether it changed since the last look."""
        ...

    def capture(self) -> dict[str, Any]:
        """Capture it; says into which slot."""
        ...


class PixelBuffer(Protocol):
    """Memory with the captured pixels."""

    def __getitem__(self, part: slice) -> bytes: ...


class RedrawDelays:
    """Lateness by process, in seconds."""

    def __init__(self) -> None:
        self._delays_by_process: dict[int, float] = {}

    def lateness(self, process: int) -> float:
        """How long after an act to wait for this process."""
        return self._delays_by_process.get(process, LEARNING_SECONDS)

    def is_unknown(self, process: int) -> bool:
        """Whether an act has yet to be watched."""
        return process not in self._delays_by_process

    def learn(self, process: int, delay_seconds: float) -> None:
        """The last change an act caused came so late."""
        self._delays_by_process[process] = delay_seconds * GROWTH + MARGIN


class RedrawWatcher:
    """Follows where and when the picture changes after one act."""

    def __init__(self, begin: Callable[[], CaptureSource], memory: PixelBuffer, width: int, height: int) -> None:
        """`begin` makes the picture that is looked at, once there is something to learn."""
        self._create_capture, self._memory = begin, memory
        self._stride, self._height = width * PIXEL, height
        self._changes: dict[Tile, list[float]] = defaultdict(list)
        self._last: bytes = b""

    @cached_property
    def _picture(self) -> CaptureSource:
        return self._create_capture()

    def begin(self) -> None:
        """Start from the present picture."""
        self._changes.clear()
        self._last = self._grab()

    def capture(self, after: float) -> None:
        """Note what changed since the last look; `after` is in seconds since the act."""
        if not self._picture.sync():
            return
        now = self._grab()
        for tile in self._differing_tiles(self._last, now):
            self._changes[tile].append(after)
        self._last = now

    def lateness(self) -> float:
        """When the act's last change came (seconds after it); 0 when it caused none."""
        return max((times[-1] for times in self._changes.values() if len(times) < PERIODIC_CHANGES), default=0.0)

    def _grab(self) -> bytes:
        slot = int(self._picture.capture()["slot"])
        size = self._stride * self._height
        return self._memory[slot * size : (slot + 1) * size]

    def _differing_tiles(self, old: bytes, new: bytes) -> set[Tile]:
        tiles = set()
        for y in range(self._height):
            row = slice(y * self._stride, (y + 1) * self._stride)
            if old[row] != new[row]:
                tiles |= {(x, y // TILE_HEIGHT) for x in self._columns(old[row], new[row])}
        return tiles

    def _columns(self, old: bytes, new: bytes) -> list[int]:
        width = TILE_WIDTH * PIXEL
        starts = range(0, self._stride, width)
        return [x for x, at in enumerate(starts) if old[at : at + width] != new[at : at + width]]


class WokenThreads:
    """The threads with a habit that one act has woken, and how late they may show what comes of it.

    `lateness` is that time by thread (seconds after the act); `learning` holds the processes where it is not known yet.
    """

    def __init__(self, delays: RedrawDelays, watch: RedrawWatcher, before: ThreadSamples, ends: float) -> None:
        self._delays, self._watch = delays, watch
        self._before = {tid: thread for tid, thread in before.items() if has_earlier_timer(thread, ends)}
        self.lateness: dict[int, float] = {}
        self.learning: set[int] = set()

    def note(self, threads: ThreadSamples, now: float) -> None:
        """Take in a look: what ran before its time was woken."""
        for tid, before in self._before.items():
            thread = threads.get(tid)
            early = before.wakes_at is not None and now < before.wakes_at
            if tid not in self.lateness and thread is not None and early and _has_run(before, thread):
                self._add(tid, thread.process)

    def capture(self, after: float) -> None:
        """Follow the picture where something is to be learnt; `after` is in seconds since the act."""
        if self.learning:
            self._watch.capture(after)

    def learn(self) -> None:
        """The act's effects have been seen."""
        for process in self.learning:
            self._delays.learn(process, self._watch.lateness())

    def _add(self, tid: int, process: int) -> None:
        self.lateness[tid] = self._delays.lateness(process)
        if self._delays.is_unknown(process):
            if not self.learning:
                self._watch.begin()
            self.learning.add(process)


def _has_run(before: ThreadSample, thread: ThreadSample) -> bool:
    return thread.running or thread.runs != before.runs
