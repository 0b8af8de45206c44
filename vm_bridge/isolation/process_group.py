"""The end of a process group."""

import os
import select
import signal
import time
from contextlib import ExitStack, suppress
from pathlib import Path

MAX_WAIT_SECONDS = 0.5
"""How long processes are waited for before the group is looked at again."""


def end_process_group(group: int, seconds: float) -> None:
    """Kill all processes of a group, also those that start meanwhile. Returns when none runs, or after `seconds`.

    A zombie does not run: an orphan stays one until the first process of the system reaps it, which may take seconds.
    """
    until = time.monotonic() + seconds
    while (members := running_members(group)) and (left := until - time.monotonic()) > 0:
        with ExitStack() as opened, suppress(ProcessLookupError):
            descriptors = _open_all(members, opened)
            os.killpg(group, signal.SIGKILL)
            _wait_for_end(descriptors, min(left, MAX_WAIT_SECONDS))


def running_members(group: int) -> list[int]:
    """The processes of a group, without zombies."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):  # it has ended
            state, _, its_group = Path("/proc", name, "stat").read_text(errors="replace").rpartition(")")[2].split()[:3]
            if int(its_group) == group and state not in "ZX":
                found.append(int(name))
    return found


def _open_all(pids: list[int], opened: ExitStack) -> list[int]:
    descriptors = []
    for pid in pids:
        with suppress(OSError):
            descriptors.append(os.pidfd_open(pid))
            opened.callback(os.close, descriptors[-1])
    return descriptors


def _wait_for_end(descriptors: list[int], seconds: float) -> None:
    until = time.monotonic() + seconds
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    left = set(descriptors)
    while left and (remaining := until - time.monotonic()) > 0:
        for descriptor, _ in poll.poll(remaining * 1000):
            poll.unregister(descriptor)
            left.discard(descriptor)
