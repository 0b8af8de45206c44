"""What the bridge and the guests below it have used of the processor."""

import os
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
GUEST = b"vm_bridge.guest"


def stream_seconds(bridge: int) -> tuple[float, float]:
    """Processor time so far of capture plus encode, and of the bridge and its guests as a whole.

    Guests capture, the bridge's worker threads encode; its main thread sends. The X servers and programs of the
    desktops are not counted: they draw, whether anybody looks or not.
    """
    threads = {int(thread.name): _task_cpu_seconds(thread) for thread in Path(f"/proc/{bridge}/task").iterdir()}
    guests = sum(_task_cpu_seconds(Path(f"/proc/{guest}")) for guest in _guests(bridge))
    return guests + sum(threads.values()) - threads[bridge], guests + sum(threads.values())


def cpu_seconds(pids: list[int]) -> float:
    """Processor time so far of processes and of those below them."""
    return sum(seconds for pid in pids for seconds in cpu_seconds_by_process(pid).values())


def cpu_seconds_by_process(pid: int) -> dict[int, float]:
    """Processor time so far of a process and of each below it that runs."""
    return {one: _task_cpu_seconds(Path(f"/proc/{one}")) for one in (pid, *descendant_pids(pid))}


def _task_cpu_seconds(folder: Path) -> float:
    """User and system time of a process or thread (seconds)."""
    try:
        fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS


def _guests(pid: int) -> list[int]:
    return [one for one in descendant_pids(pid) if GUEST in command_line(one)]


def descendant_pids(pid: int) -> list[int]:
    """The processes that a process has started, and those that they have."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
        children.setdefault(parent, []).append(int(entry.name))
    found, waiting = [], [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        waiting += below
        found += below
    return found


def command_line(pid: int) -> bytes:
    """The command line of a process; nothing where it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""
