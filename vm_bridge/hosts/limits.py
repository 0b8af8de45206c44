"""Control groups that bound one sandbox's memory and processes, where this process may make them."""

import time
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
PARENT = "pilothouse"
MEMORY_BYTES = 3 * 1024**3
"""Programs and written files of one sandbox together."""
PROCESSES = 768
"""Threads of one sandbox; the guest sets the same bound for itself where there is no control group."""

JOINED_WITHIN = 60.0
"""A group has its first process after so long at most (seconds)."""


def groups_create(name: str) -> tuple[Path, ...]:
    """One group for each controller that can be had, with its bound set; empty where none can."""
    limits = (("memory", "memory.max", MEMORY_BYTES), ("pids", "pids.max", PROCESSES))
    if (ROOT / "cgroup.controllers").is_file():
        group = _group(ROOT / PARENT, name, limits)
        return () if group is None else (group,)
    legacy = (("memory", "memory.limit_in_bytes", MEMORY_BYTES), ("pids", "pids.max", PROCESSES))
    made = [_group(ROOT / limit[0] / PARENT, name, (limit,)) for limit in legacy if (ROOT / limit[0]).is_dir()]
    return tuple(group for group in made if group is not None)


def groups_remove(groups: tuple[Path, ...]) -> None:
    """Remove groups whose processes have ended."""
    for group in groups:
        try:
            group.rmdir()
        except OSError:
            continue  # a process is still ending; the next start of a host removes it


def groups_sweep() -> None:
    """Remove the groups that earlier hosts left empty; a new one may be another host's, about to be joined."""
    old = time.time() - JOINED_WITHIN
    for parent in (ROOT / PARENT, *(ROOT / name / PARENT for name in ("memory", "pids"))):
        if parent.is_dir():
            groups_remove(tuple(path for path in parent.iterdir() if path.is_dir() and path.stat().st_mtime < old))


def _group(parent: Path, name: str, limits: tuple[tuple[str, str, int], ...]) -> Path | None:
    group = parent / name
    try:
        if (ROOT / "cgroup.controllers").is_file():
            _delegate(ROOT, limits)
            parent.mkdir(exist_ok=True)
            _delegate(parent, limits)
        group.mkdir(parents=True)
        for _, file, value in limits:
            (group / file).write_text(str(value))
    except OSError:
        groups_remove((group,))
        return None
    return group


def _delegate(folder: Path, limits: tuple[tuple[str, str, int], ...]) -> None:
    (folder / "cgroup.subtree_control").write_text(" ".join(f"+{controller}" for controller, _, _ in limits))
