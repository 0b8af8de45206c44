"""Control groups that bound one sandbox's memory and processes, where this process may make them."""

from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
PARENT = "pilothouse"
MEMORY_BYTES = 3 * 1024**3
"""Programs and written files of one sandbox together."""
PROCESSES = 768
"""Threads of one sandbox; the guest sets the same bound for itself where there is no control group."""


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
    """Remove the groups that earlier hosts left empty."""
    for parent in (ROOT / PARENT, *(ROOT / name / PARENT for name in ("memory", "pids"))):
        if parent.is_dir():
            groups_remove(tuple(path for path in parent.iterdir() if path.is_dir()))


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
