"""What a process and the guests below it have used of the processor."""

import os
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
GUEST = b"vm_bridge.guest"


def cpu_seconds(pid: int) -> float:
    """User and system time so far of a process, all its threads, and every guest agent among its descendants.

    The X servers and programs of the desktops are not counted: they draw, whether anybody looks or not.
    """
    return sum(_own(one) for one in (pid, *_guests(pid)))


def _own(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS


def _guests(pid: int) -> list[int]:
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
        found += [one for one in below if _is_guest(one)]
    return found


def _is_guest(pid: int) -> bool:
    try:
        return GUEST in Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False
