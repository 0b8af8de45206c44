"""What a thread waits for, read from real processes of this machine."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from vm_bridge.guest.linux.thread_activity import ThreadSampler
from vm_bridge.settle import ThreadSample

BOUND = 20.0
WAITS = {
    "poll": "import select; p = select.poll(); p.register(0, select.POLLPRI); p.poll(9000)",
    "select": "import select; select.select([], [], [], 9)",
    "epoll": "import select; select.epoll().poll(9)",
    "sleep": "import time; time.sleep(9)",
    "futex": "import threading; threading.Event().wait(9)",
}


@contextmanager
def program(code: str) -> Iterator[int]:
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as process:
        yield process.pid
        process.kill()


def wait_for_thread(sampler: ThreadSampler, pid: int, wanted: Callable[[ThreadSample], bool]) -> ThreadSample:
    """A process's main thread once it looks as wanted."""
    ends = time.monotonic() + BOUND
    while time.monotonic() < ends:
        thread = sampler.sample().get(pid)
        if thread is not None and wanted(thread):
            return thread
    raise AssertionError("it never looked as wanted")


@pytest.mark.parametrize("how", WAITS)
def test_a_wait_with_a_time_tells_when_it_ends(how: str) -> None:
    with program(WAITS[how]) as pid:
        thread = wait_for_thread(ThreadSampler(set(), {}), pid, lambda seen: seen.wakes_at is not None)
        assert thread.wakes_at is not None
        assert 0 < thread.wakes_at - time.monotonic() <= 9
        assert not thread.running


def test_the_same_wait_keeps_its_time() -> None:
    with program(WAITS["poll"]) as pid:
        sampler = ThreadSampler(set(), {})
        first = wait_for_thread(sampler, pid, lambda seen: seen.wakes_at is not None)
        assert sampler.sample()[pid] == first


def test_a_wait_without_a_time() -> None:
    with program("import sys; sys.stdin.read()") as pid:
        sampler = ThreadSampler(set(), {})
        thread = wait_for_thread(sampler, pid, lambda seen: not seen.running and seen.runs > 0)
        assert thread.wakes_at is None


def test_a_busy_thread_runs() -> None:
    with program("while True: pass") as pid:
        assert wait_for_thread(ThreadSampler(set(), {}), pid, lambda seen: seen.running).running


def test_patience_leaves_out_times_of_programs_known_to_show_nothing() -> None:
    with program(WAITS["poll"]) as pid:
        wait_for_thread(ThreadSampler(set(), {}), pid, lambda seen: seen.wakes_at is not None)
        name = Path(f"/proc/{pid}/comm").read_text().strip()
        assert ThreadSampler(set(), {name[:3]: 1.0}).sample()[pid].wakes_at is None
        assert ThreadSampler(set(), {name[:3]: 60.0}).sample()[pid].wakes_at is not None


def test_the_ignored_are_not_seen() -> None:
    assert os.getpid() not in ThreadSampler({os.getpid()}, {}).sample()
