"""What a tree of processes costs."""

import os
from collections import defaultdict
from pathlib import Path

from vm_bridge.sandbox import Usage

PROC = Path("/proc")
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def measure_usage(root: int) -> Usage:
    """Memory, processor time and number of the processes below `root`, itself included."""
    children: dict[int, list[int]] = defaultdict(list)
    cpu: dict[int, float] = {}
    for folder in PROC.iterdir():
        if folder.name.isdigit():
            _read_process(folder, children, cpu)
    family, waiting = set[int](), [root]
    while waiting:
        pid = waiting.pop()
        family.add(pid)
        waiting += children[pid]
    return Usage(
        pss=sum(_pss(pid) for pid in family),
        cpu_seconds=sum(cpu.get(pid, 0.0) for pid in family),
        processes=len(family),
    )


def _read_process(folder: Path, children: dict[int, list[int]], cpu: dict[int, float]) -> None:
    try:
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return  # it ended in between
    pid = int(folder.name)
    children[int(fields[1])].append(pid)
    cpu[pid] = (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


def _pss(pid: int) -> int:
    try:
        rollup = (PROC / str(pid) / "smaps_rollup").read_text()
    except OSError:
        return 0  # it ended in between
    return next((int(line.split()[1]) * 1024 for line in rollup.splitlines() if line.startswith("Pss:")), 0)
