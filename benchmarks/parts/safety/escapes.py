"""What an attacker in a machine tries, and what came of it: `escape_program.py`, run in leased machines."""

import inspect
import itertools
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pyseccomp

from benchmarks.parts.figures import print_progress
from benchmarks.parts.processes import descendant_pids
from benchmarks.parts.safety import escape_program
from protocol.actions.types import Navigate, RunCommand
from protocol.trajectory.observations import Observation
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import BridgeError
from vm_bridge.isolation.seccomp import DENIED_SYSCALLS
from vm_bridge.machine import Machine

PROGRAM = inspect.getsource(escape_program)
PROGRAM_SECONDS = 120.0
WAIT_SECONDS = 120.0
OPEN = "open"
MIN_PID = 1_000
"""Processes of the host with smaller numbers are not signalled: a machine has processes of the same number."""
BROWSER_IMAGES = frozenset({"desktop", "browser"})
"""Their Chromium makes user namespaces for its own sandbox."""
numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class HostFacts:
    """What of the host a program in a machine tries to reach."""

    files: tuple[str, ...] = ()
    ports: tuple[int, ...] = ()
    """Where the host's loopback interface has listeners."""
    addresses: tuple[str, ...] = ()
    """`host:port` beside the loopback interface."""
    sockets: tuple[str, ...] = ()
    """Paths of unix sockets; those that begin with `@` are abstract."""
    pids: tuple[int, ...] = ()
    user_namespaces: bool = False
    """Whether the machine may make user namespaces."""


def denied_syscalls() -> dict[str, int]:
    """The refused system calls that this architecture has, by name."""
    found = {}
    for name in DENIED_SYSCALLS:
        try:
            number = pyseccomp.resolve_syscall(pyseccomp.system_arch(), name)
        except (ValueError, OSError, RuntimeError):
            continue
        if number >= 0:
            found[name] = number
    return found


async def try_to_escape(machine: Machine, facts: HostFacts) -> dict[str, str]:
    """What came of each try in a machine with a shell, by name; what is open begins with `open`."""
    given = json.dumps({**asdict(facts), "syscalls": denied_syscalls()}).replace("'", "")
    command = f"python3 - '{given}' <<'END'\n{PROGRAM}\nEND"
    action = RunCommand(command=command, timeout=PROGRAM_SECONDS)
    done = await machine.perform(f"escape-{next(numbers):04}", action, settle=False)
    text = (done.after.text or "").strip()
    try:
        found: dict[str, str] = json.loads(text)
    except ValueError:
        raise RuntimeError(f"the program that tries to escape ended early: {text[-500:]}") from None
    return found


async def try_pages(machine: Machine, facts: HostFacts) -> dict[str, str]:
    """What came of pages that a browser was sent to, by address."""
    found = {}
    for address in _addresses(facts):
        try:
            done = await machine.perform(f"page-{next(numbers):04}", Navigate(url=address))
        except BridgeError as error:
            found[address] = type(error).__name__
            continue
        found[address] = _shown(done.after, address) if done.error is None else done.error.code
    return found


def _addresses(facts: HostFacts) -> Iterable[str]:
    for path in (*facts.files, "/etc/passwd", "/proc/self/environ", "/"):
        yield f"file://{path}"
        yield f"view-source:file://{path}"
    for port in facts.ports:
        yield f"http://127.0.0.1:{port}/"
        yield f"http://localhost:{port}/api/health"
    for address in (*facts.addresses, "169.254.169.254", "example.com"):
        yield f"http://{address}/"
    yield from ("chrome://version", "chrome://flags", "devtools://devtools/bundled/inspector.html", "about:debugging")
    yield from ("javascript:fetch('file:///etc/passwd')", "filesystem:file:///tmp/", "ftp://127.0.0.1/")


def _shown(after: Observation, address: str) -> str:
    """Whether the browser is at the address now, and not at a page that says it could not be reached."""
    shown = after.url or ""
    at = address.removeprefix("view-source:").rstrip("/")
    return f"{OPEN}: {shown}" if shown.removeprefix("view-source:").rstrip("/").startswith(at) else f"stayed at {shown}"


def seccomp_of(pids: Iterable[int]) -> dict[int, int]:
    """The mode of system call filtering of processes: 2 is a filter."""
    modes = {}
    for pid in pids:
        try:
            told = Path(f"/proc/{pid}/status").read_text()
        except OSError:
            continue
        modes[pid] = int(next(line.split()[1] for line in told.splitlines() if line.startswith("Seccomp:")))
    return modes


def sandboxed_pids(bridge: int) -> list[int]:
    """The processes below the bridge that are in a namespace of processes of their own."""
    own = os.readlink(f"/proc/{bridge}/ns/pid")
    found = []
    for pid in descendant_pids(bridge):
        try:
            if os.readlink(f"/proc/{pid}/ns/pid") != own:
                found.append(pid)
        except OSError:
            continue
    return found


async def measure_escapes(
    bridge_url: str, secret: str, bridge_pid: int, facts: HostFacts, images: Iterable[str], folder: Path
) -> dict[str, Any]:
    """Try to leave a leased machine of each image; how many tries, how many are open, and the weakest filter.

    What came of each try is in `escapes-IMAGE.json` in the folder.
    """
    tries = opened = 0
    modes: dict[int, int] = {}
    async with BridgeClient(bridge_url, secret) as bridge:
        for image in images:
            lease = await bridge.allocate(image=image, holder="safety", ttl=300, wait=WAIT_SECONDS)
            machine = bridge.machine(lease)
            known = replace(facts, user_namespaces=image in BROWSER_IMAGES)
            found = await (try_pages if image == "browser" else try_to_escape)(machine, known)
            modes |= seccomp_of(sandboxed_pids(bridge_pid))
            await bridge.release(lease)
            (folder / f"escapes-{image}.json").write_text(json.dumps(found, indent=1))
            tries += len(found)
            opened += report_open(image, found)
    if not modes:
        raise RuntimeError("no process of a machine was found below the bridge")
    return {
        "escape_tries": tries,
        "escape_open": opened,
        "sandboxed_processes": len(modes),
        "seccomp": min(modes.values()),
    }


def report_open(image: str, found: Mapping[str, str]) -> int:
    """Name the tries that are open; how many they are."""
    opened = {name: said for name, said in found.items() if said.startswith(OPEN)}
    for name, said in opened.items():
        print_progress(f"open: {name} in {image}: {said}")
    return len(opened)
