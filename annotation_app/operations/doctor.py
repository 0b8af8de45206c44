"""`./pilothouse doctor`: whether this machine can run Pilothouse, and what to do if it cannot. It changes nothing.

Runs with only the standard library.
"""

import ctypes
import os
import resource
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Literal, NamedTuple

from annotation_app.operations.console import Console
from annotation_app.operations.install.setup import SANDBOX_PROBE
from annotation_app.operations.install.system_packages import RUN_PACKAGES
from annotation_app.operations.runtime.platform_info import read_platform_info
from annotation_app.operations.runtime.ports import port_holder
from annotation_app.operations.runtime.stack import LOOPBACK, ROOT, Ports

MIN_PYTHON = (3, 11)
MIN_MEMORY_GIB, GOOD_MEMORY_GIB = 2, 4
"""The first is for the demo, the second for desktops."""
MIN_DISK_GIB, GOOD_DISK_GIB = 1, 5
MIN_OPEN_FILES = 1_024
CLOCK_UNSYNCHRONISED = 5
"""The adjtimex(2) result for an unsynchronized clock (TIME_ERROR)."""
TIMEX_BYTES = 512
"""Larger than a `struct timex`; zeros read and set nothing."""
PROBE_TIMEOUT_SECONDS = 10
State = Literal["ok", "warn", "bad"]


class Finding(NamedTuple):
    """The result for one item. `warn`: it runs with limitations; `bad`: the demo would not start."""

    subject: str
    state: State
    text: str
    hint: str = ""


def run_doctor(data: Path, console: Console) -> int:
    """Print one finding per line with advice. Returns 1 if one of them keeps the demo from starting."""
    findings = [finding for check in CHECKS for finding in check(data)]
    for finding in findings:
        mark = {"ok": console.paint("✓", 32), "warn": console.paint("!", 33), "bad": console.paint("✗", 31)}
        console.say(f"{mark[finding.state]} {finding.subject}: {finding.text}")
        if finding.hint:
            console.say(f"    {finding.hint}")
    counts = {state: sum(finding.state == state for finding in findings) for state in ("warn", "bad")}
    console.say()
    if counts["bad"]:
        console.say(f"{counts['bad']} to fix before ./pilothouse demo. Warnings: {counts['warn']}.")
    else:
        console.say(f"./pilothouse demo can start here. Warnings: {counts['warn']}.")
    return 1 if counts["bad"] else 0


def check_versions(data: Path) -> Iterator[Finding]:
    """This Python, the environment `.venv` and the built pages."""
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < MIN_PYTHON:
        yield Finding("Python", "bad", f"{version}, older than 3.11", "apt-get install python3.11 python3.11-venv")
    else:
        yield Finding("Python", "ok", version)
    for subject, path in (("Environment", ROOT / ".venv"), ("Pages", ROOT / "frontend" / "dist" / "index.html")):
        if path.exists():
            yield Finding(subject, "ok", str(path.relative_to(ROOT)))
        else:
            hint = "./pilothouse demo makes it; before ./pilothouse serve run ./pilothouse setup"
            yield Finding(subject, "warn", f"{path.relative_to(ROOT)} is not there yet", hint)


def check_programs(data: Path) -> Iterator[Finding]:
    """The system packages of the programs that the demo starts."""
    missing = [package.package for package in RUN_PACKAGES if not package.is_installed()]
    if not missing:
        yield Finding("System packages", "ok", f"all {len(RUN_PACKAGES)} are there")
        return
    root = os.geteuid() == 0 or shutil.which("sudo") is not None
    hint = f"apt-get install --no-install-recommends {' '.join(missing)}"
    if root and shutil.which("apt-get"):
        yield Finding("System packages", "warn", f"missing: {', '.join(missing)}", "./pilothouse demo installs them")
    else:
        yield Finding("System packages", "bad", f"missing: {', '.join(missing)}; root or sudo is needed", hint)


def check_namespaces(data: Path) -> Iterator[Finding]:
    """Whether sandboxes can be isolated from this machine."""
    if shutil.which(SANDBOX_PROBE[0]) is None:
        yield Finding("Namespaces", "warn", "not tried: bubblewrap is not installed", "./pilothouse demo installs it")
        return
    try:
        tried = subprocess.run(
            SANDBOX_PROBE, capture_output=True, text=True, timeout=PROBE_TIMEOUT_SECONDS, check=False
        )
        problem = tried.stderr.strip() if tried.returncode else ""
    except subprocess.TimeoutExpired:
        problem = f"no answer in {PROBE_TIMEOUT_SECONDS} s"
    if problem:
        hint = (
            "As root: sysctl kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0."
            " In a container: docs/guides/operator/containers.md"
        )
        yield Finding("Namespaces", "bad", problem, hint)
    else:
        yield Finding("Namespaces", "ok", "sandboxes can be made")


def check_ports(data: Path) -> Iterator[Finding]:
    """The ports that the demo tries first."""
    info = read_platform_info(data)
    if info is not None:
        yield Finding("Ports", "ok", f"Pilothouse runs on this data: {info.url}")
        return
    taken = {name: port for name, port in _preferred_ports().items() if not _is_port_free(port)}
    if not taken:
        yield Finding("Ports", "ok", "all are free")
    for name, port in taken.items():
        hint = "The next free one is taken instead; --port chooses the one of the pages."
        yield Finding("Ports", "warn", f"{port} ({name}) is taken by {port_holder(port)}", hint)


def check_room(data: Path) -> Iterator[Finding]:
    """Disk, memory and open files."""
    folder = next(each for each in (data.absolute(), *data.absolute().parents) if each.exists())
    yield _room("Disk", shutil.disk_usage(folder).free, MIN_DISK_GIB, GOOD_DISK_GIB, f"free where {data} lies")
    yield _room("Memory", _available_memory(), MIN_MEMORY_GIB, GOOD_MEMORY_GIB, "available")
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if limit < MIN_OPEN_FILES:
        yield Finding("Open files", "warn", f"at most {limit} a process", f"ulimit -n {MIN_OPEN_FILES}")


def check_clock(data: Path) -> Iterator[Finding]:
    """Whether the clock is synchronized. Second-factor codes and tickets depend on it."""
    try:
        state = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(TIMEX_BYTES))
    except (OSError, AttributeError):
        state = -1
    if state == CLOCK_UNSYNCHRONISED:
        hint = "Second factors are refused where it is off by half a minute: start chrony or systemd-timesyncd"
        yield Finding("Clock", "warn", "nothing keeps it right", hint)
    elif state < 0:
        yield Finding("Clock", "warn", "this system does not say whether it is right")
    else:
        yield Finding("Clock", "ok", "kept right")


def check_gpu(data: Path) -> Iterator[Finding]:
    """The GPUs of this machine; none is required."""
    names: Sequence[str] = ()
    if shutil.which("nvidia-smi"):
        words = ["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader"]
        try:
            listed = subprocess.run(words, capture_output=True, text=True, timeout=PROBE_TIMEOUT_SECONDS, check=False)
            names = listed.stdout.strip().splitlines() if listed.returncode == 0 else ()
        except (OSError, subprocess.TimeoutExpired):
            names = ()
        if not names:
            yield Finding("GPU", "warn", "nvidia-smi finds none", "Look at its output: nvidia-smi")
            return
    yield Finding("GPU", "ok", "; ".join(names) or "none; the demo's model runs on the processor")


CHECKS: tuple[Callable[[Path], Iterator[Finding]], ...] = (
    check_versions,
    check_programs,
    check_namespaces,
    check_ports,
    check_room,
    check_clock,
    check_gpu,
)


def _preferred_ports() -> dict[str, int]:
    return asdict(Ports())


def _is_port_free(port: int) -> bool:
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def _available_memory() -> int:
    """Bytes that programs can use without swapping."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))


def _room(subject: str, found: int, least: int, good: int, what: str) -> Finding:
    text = f"{found / 2**30:.1f} GiB {what}"
    if found < least * 2**30:
        return Finding(subject, "bad", text, f"At least {least} GiB are needed, {good} GiB are better")
    return Finding(subject, "warn" if found < good * 2**30 else "ok", text)
