"""How soon a virtual machine is put back to a state, answers again, and keeps one.

Alone, with its figures as one JSON object: `python -m benchmarks.parts.hosts.virtual_machines`.
"""

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from vm_bridge.errors import NoMachine
from vm_bridge.hosts.qemu.host import IMAGE, QemuHost
from vm_bridge.hosts.qemu.sandbox import QemuSandbox
from vm_bridge.hosts.qemu.states import size_state_name
from vm_bridge.hosts.qemu.virtual_machine import is_qemu_installed
from vm_bridge.virtual.base_image import DEFAULT_DISKS_FOLDER, base_image_exists

ROUNDS, ROUNDS_SECONDS = 7, 120.0
"""Rounds, and after how long none is begun any more: on a busy host an emulated machine takes minutes for one."""
MEMORY = 512


def missing_requirement() -> str | None:
    """Why nothing can be measured here; None when it can."""
    if not is_qemu_installed():
        return "QEMU is not installed"
    return (
        None
        if base_image_exists(DEFAULT_DISKS_FOLDER)
        else "the disk that `python -m vm_bridge.virtual` makes is missing"
    )


def measure(folder: Path) -> dict[str, object]:
    """The figures, medians of some rounds on one machine."""
    return asyncio.run(_measure(folder))


async def _measure(folder: Path) -> dict[str, object]:
    host = QemuHost(folder, memory=MEMORY)
    try:
        began = time.perf_counter()
        sandbox = await host.create(IMAGE)
        created = time.perf_counter() - began
        if not isinstance(sandbox, QemuSandbox):
            raise NoMachine("another host made the machine")
        ready = await host.prepared()
        loads: list[float] = []
        resets: list[float] = []
        keeps: list[float] = []
        ends = time.perf_counter() + ROUNDS_SECONDS
        while not loads or (len(loads) < ROUNDS and time.perf_counter() < ends):
            began = time.perf_counter()
            await sandbox.machine.load(size_state_name(ready.manifest.width, ready.manifest.height))
            loads.append(time.perf_counter() - began)
            began = time.perf_counter()
            await sandbox.reset()
            resets.append(time.perf_counter() - began)
            began = time.perf_counter()
            await sandbox.bind(sandbox.fence).snapshot()
            keeps.append(time.perf_counter() - began)
        return {
            "qemu_loadvm_ms": _ms(loads),
            "qemu_reset_ms": _ms(resets),
            "qemu_savevm_ms": _ms(keeps),
            "qemu_create_ms": round(created * 1000, 1),
            "qemu_accelerator": ready.hardware.accelerator,
            "qemu_memory_mib": MEMORY,
            "qemu_rounds": len(loads),
        }
    finally:
        await host.close()


def _ms(seconds: list[float]) -> float:
    return round(median(seconds) * 1000, 1)


if __name__ == "__main__":
    if why := missing_requirement():
        sys.exit(why)
    with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as scratch:
        print(json.dumps(measure(Path(scratch))))
