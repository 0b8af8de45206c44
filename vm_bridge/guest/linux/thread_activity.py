"""What every thread of the sandbox is doing, read from /proc: running, waiting, and until when; and how late after an
act a program that also changes by itself still shows what the act did.

A blinking caret or an animation hides later times: a program shows the kernel only the next one. So the first act that
reaches such a program is watched for a while. What changed once or a few times is taken for the act's doing, what kept
changing for the program's own.
"""

import math
import os
import struct
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Protocol

from vm_bridge.settle import ThreadSample, ThreadSamples, has_earlier_timer

# System call numbers of x86-64; a wait with a time is told by its arguments.
POLL, SELECT, NANOSLEEP, FUTEX, CLOCK_NANOSLEEP = 7, 23, 35, 202, 230
EPOLL_WAIT, PSELECT6, PPOLL, EPOLL_PWAIT, EPOLL_PWAIT2, FUTEX_WAITV = 232, 270, 271, 281, 441, 449
SIGTIMEDWAIT = 128
MILLISECONDS = {POLL: 2, EPOLL_WAIT: 3, EPOLL_PWAIT: 3}
"""Calls whose timeout is an argument, in ms, and which one."""
TIMESPECS = {PPOLL: 2, PSELECT6: 4, NANOSLEEP: 0, EPOLL_PWAIT2: 3, SIGTIMEDWAIT: 2}
"""Calls whose relative timeout lies in memory (seconds, nanoseconds), and which argument points there."""
FUTEX_COMMAND, FUTEX_REALTIME, FUTEX_WAIT = 0x7F, 0x100, 0
FUTEX_ABSOLUTE = (6, 9, 11, 13)
WAIT4, PAUSE, ACCEPT, RECVFROM, RECVMSG, SIGSUSPEND, WAITID = 61, 34, 43, 45, 47, 130, 247
WAITS = {POLL, SELECT, NANOSLEEP, FUTEX, CLOCK_NANOSLEEP, EPOLL_WAIT, PSELECT6, PPOLL, EPOLL_PWAIT, EPOLL_PWAIT2}
WAITS |= {FUTEX_WAITV, SIGTIMEDWAIT, WAIT4, PAUSE, ACCEPT, RECVFROM, RECVMSG, SIGSUSPEND, WAITID}
"""Calls that wait for others; any other may be waiting for a disk, which is work."""
TIMER_ABSTIME = 1
CLOCK_REALTIME = 0
BLOCKED_OUTSIDE = "-1"
WORKING = "RDS"
"""States in which a thread outside a system call goes on by itself: not stopped, ended or traced."""

Arguments = list[int]


class ThreadSampler:
    """Looks at every thread but those of the processes in `ignored`.

    `patience` tells of programs whose own times are known to change nothing on the screen: by the beginning of
    a thread's name, the longest time it sets itself that is taken for one it waits for (seconds).

    When a thread began to wait is not told by the kernel: the first look that finds it waiting stands in, so a time is
    never put too early.
    """

    def __init__(self, ignored: set[int], timer_limits: Mapping[str, float]) -> None:
        self._ignored = {str(pid) for pid in ignored}
        self._timer_limits = timer_limits
        self._known: dict[int, ThreadSample] = {}

    def sample(self) -> dict[int, ThreadSample]:
        """Every thread by its id, now."""
        seen = {}
        for pid in os.listdir("/proc"):
            if pid.isdigit() and pid not in self._ignored:
                for tid in _list(f"/proc/{pid}/task"):
                    thread = self._thread(pid, tid)
                    if thread is not None:
                        seen[int(tid)] = thread
        self._known = seen
        return seen

    def scheduling_delay(self) -> float:
        """How long the calling thread has waited for a processor so far (seconds)."""
        return int(_read("/proc/thread-self/schedstat").split()[1]) / 1e9

    def _thread(self, pid: str, tid: str) -> ThreadSample | None:
        folder = f"/proc/{pid}/task/{tid}"
        try:
            runs = int(_read(f"{folder}/schedstat").split()[2])
            call = _read(f"{folder}/syscall").split()
        except PermissionError:
            # It is just becoming another program, or hides from everybody.
            return ThreadSample(runs, _state(folder) in "RD", None, int(pid))
        except (OSError, IndexError):
            return None  # it ended between the listing and the look
        known = self._known.get(int(tid))
        if call[0] in ("running", BLOCKED_OUTSIDE):
            return ThreadSample(runs, _state(folder) in WORKING, None, int(pid))
        if known is not None and known.runs == runs and not known.running:
            return known
        if int(call[0]) not in WAITS and _state(folder) in "RD":
            return ThreadSample(runs, True, None, int(pid))
        arguments = [int(word, 16) for word in call[1:7]]
        return ThreadSample(runs, False, self._visible_wake(folder, _wakes_at(pid, int(call[0]), arguments)), int(pid))

    def _visible_wake(self, folder: str, at: float | None) -> float | None:
        """When a thread wakes by itself, if that may show on the screen."""
        if at is None:
            return None
        try:
            name = _read(f"{folder}/comm")
        except OSError:
            return None  # it ended in between
        longest = min(
            (longest for start, longest in self._timer_limits.items() if name.startswith(start)), default=math.inf
        )
        return at if at - time.monotonic() <= longest else None


def _wakes_at(pid: str, number: int, arguments: Arguments) -> float | None:
    if number == FUTEX:
        return _futex_wakes_at(pid, arguments)
    if number == FUTEX_WAITV:
        return _absolute(_timespec(pid, arguments[3]), realtime=arguments[4] == CLOCK_REALTIME)
    if number == CLOCK_NANOSLEEP and arguments[1] & TIMER_ABSTIME:
        return _absolute(_timespec(pid, arguments[2]), realtime=arguments[0] == CLOCK_REALTIME)
    return _after(_relative(pid, number, arguments))


def _futex_wakes_at(pid: str, arguments: Arguments) -> float | None:
    command = arguments[1] & FUTEX_COMMAND
    if command == FUTEX_WAIT:
        return _after(_timespec(pid, arguments[3]))
    if command in FUTEX_ABSOLUTE:
        return _absolute(_timespec(pid, arguments[3]), realtime=bool(arguments[1] & FUTEX_REALTIME))
    return None


def _relative(pid: str, number: int, arguments: Arguments) -> float | None:
    if number in MILLISECONDS:
        timeout = arguments[MILLISECONDS[number]] & 0xFFFFFFFF
        return None if timeout >= 0x80000000 else timeout / 1000
    if number in TIMESPECS:
        return _timespec(pid, arguments[TIMESPECS[number]])
    if number == CLOCK_NANOSLEEP:
        return _timespec(pid, arguments[2])
    if number == SELECT:
        return _timespec(pid, arguments[4], fraction=1e-6)
    return None


def _timespec(pid: str, address: int, *, fraction: float = 1e-9) -> float | None:
    """Seconds that a process's memory holds at an address; None for the null pointer."""
    if address == 0:
        return None
    try:
        memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
    except OSError:
        return None
    try:
        seconds, rest = struct.unpack("<qq", os.pread(memory, 16, address))
    except (OSError, struct.error):
        return None
    finally:
        os.close(memory)
    return float(seconds + rest * fraction)


def _after(timeout: float | None) -> float | None:
    return None if timeout is None else time.monotonic() + timeout


def _absolute(at: float | None, *, realtime: bool) -> float | None:
    if at is None:
        return None
    return at - time.time() + time.monotonic() if realtime else at


def _state(folder: str) -> str:
    """The letter of a thread's state; Z for one that ended meanwhile."""
    try:
        return _read(f"{folder}/stat").rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return "Z"


def _list(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _read(path: str) -> str:
    file = os.open(path, os.O_RDONLY)
    try:
        return os.read(file, 4096).decode("ascii", "replace")
    finally:
        os.close(file)


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
