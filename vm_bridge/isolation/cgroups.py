"""Control groups that bound what one sandbox uses, where this process may make them."""

import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
PARENT = "pilothouse"
CPU_PERIOD = 100_000
"""Processor time is shared out anew so often (microseconds)."""
JOIN_TIMEOUT_SECONDS = 60.0
"""A group has its first process after so long at most (seconds)."""

POLL_SECONDS = 0.01
"""Seconds between two looks whether a group is empty."""

ControllerLimit = tuple[str, str]
"""A file of a control group, and what is written into it."""


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """Processor cores, bytes of memory and number of threads of one sandbox."""

    cores: float
    memory: int
    processes: int

    @property
    def modern(self) -> dict[str, ControllerLimit]:
        """By controller, for the unified hierarchy (version 2)."""
        return {
            "cpu": ("cpu.max", f"{round(self.cores * CPU_PERIOD)} {CPU_PERIOD}"),
            "memory": ("memory.max", str(self.memory)),
            "pids": ("pids.max", str(self.processes)),
        }

    @property
    def legacy(self) -> dict[str, ControllerLimit]:
        """By controller, for one hierarchy each (version 1); the period of `cpu` is the kernel's own, 0.1 s."""
        return {
            "cpu": ("cpu.cfs_quota_us", str(round(self.cores * CPU_PERIOD))),
            "memory": ("memory.limit_in_bytes", str(self.memory)),
            "pids": ("pids.max", str(self.processes)),
        }


@dataclass(frozen=True, slots=True)
class ControlGroups:
    """The groups made for one sandbox, and the controllers that could not be had for it."""

    paths: tuple[Path, ...]
    missing: tuple[str, ...]

    @classmethod
    def create(cls, name: str, limits: ResourceLimits) -> "ControlGroups":
        """As many as this process may make."""
        made = _make_unified(name, limits.modern) if _is_unified() else _make_separate(name, limits.legacy)
        return cls(
            paths=tuple(dict.fromkeys(made.values())),
            missing=tuple(controller for controller in limits.modern if controller not in made),
        )

    def remove(self) -> None:
        """Remove them once their processes have ended."""
        _remove(self.paths)

    def end(self, seconds: float) -> None:
        """Kill what is in them and remove them as soon as that is gone. What takes longer than these seconds the next
        start of a host removes."""
        until = time.monotonic() + seconds
        while True:
            for pid in {pid for group in self.paths for pid in _members(group)}:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            _remove(self.paths)
            if not any(group.exists() for group in self.paths) or time.monotonic() > until:
                return
            time.sleep(POLL_SECONDS)  # of the older hierarchy the kernel tells nobody that a group is empty


def _members(group: Path) -> list[int]:
    """The processes in a group; 0 stands for one that this process does not see."""
    try:
        return [pid for pid in map(int, (group / "cgroup.procs").read_text().split()) if pid]
    except OSError:
        return []


def remove_empty_groups() -> None:
    """Remove the groups that earlier hosts left empty; a new one may be another host's, about to be joined."""
    old = time.time() - JOIN_TIMEOUT_SECONDS
    for parent in (ROOT / PARENT, *(ROOT / name / PARENT for name in ("cpu", "memory", "pids"))):
        if parent.is_dir():
            _remove(tuple(path for path in parent.iterdir() if path.is_dir() and path.stat().st_mtime < old))


def _is_unified() -> bool:
    return (ROOT / "cgroup.controllers").is_file()


def _make_unified(name: str, bounds: dict[str, ControllerLimit]) -> dict[str, Path]:
    """One group for all controllers that are handed down to it."""
    group = ROOT / PARENT / name
    if not _make(group):
        return {}
    for folder in (ROOT, group.parent):
        for controller in bounds:
            _write(folder / "cgroup.subtree_control", f"+{controller}")
    made = {controller: group for controller, (file, value) in bounds.items() if _write(group / file, value)}
    if not made:
        _remove((group,))
    return made


def _make_separate(name: str, bounds: dict[str, ControllerLimit]) -> dict[str, Path]:
    """A group for each controller."""
    made = {}
    for controller, (file, value) in bounds.items():
        group = ROOT / controller / PARENT / name
        if _make(group) and _write(group / file, value):
            made[controller] = group
        else:
            _remove((group,))
    return made


def _make(group: Path) -> bool:
    try:
        group.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return True


def _write(file: Path, value: str) -> bool:
    try:
        file.write_text(value)
    except OSError:
        return False
    return True


def _remove(groups: tuple[Path, ...]) -> None:
    for group in groups:
        try:
            group.rmdir()
        except OSError:
            continue  # a process is still ending; the next start of a host removes it
