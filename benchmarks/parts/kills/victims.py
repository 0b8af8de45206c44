"""What is killed: how each victim is found, and how it is ended or frozen."""

import contextlib
import os
import random
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import psycopg

from benchmarks.parts.kills.annotators import Annotator
from benchmarks.parts.kills.stack import Stack
from benchmarks.parts.processes import command_line, descendant_pids

FREEZE_SECONDS = (0.5, 4.0)
LONG_FREEZE_SECONDS = (13.0, 13.0)
"""Longer than a runner's lease and than a desk's patience with silence."""
ENGINE = b"chromium-headless-shell"


def send_signal(pid: int, number: signal.Signals) -> bool:
    """Send a signal; whether the process was there."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
        return True
    return False


def kill_process(pid: int) -> bool:
    """Kill a process; whether it was there."""
    return send_signal(pid, signal.SIGKILL)


@dataclass(frozen=True, slots=True)
class Victim:
    """One kind of death."""

    name: str
    pids: Callable[[], list[int]] = list
    """The processes of which one is taken."""
    kill: Callable[[int], bool] = kill_process
    freeze: tuple[float, float] | None = None
    """Between which bounds it is stopped instead (seconds)."""
    sockets: Callable[[Sequence[Annotator], random.Random], bool] | None = None
    """Ends connections of annotators instead."""
    job: bool = False
    """Whether a background job must be done before it counts as recovered."""


def victims(stack: Stack) -> tuple[Victim, ...]:
    """Every process that a platform and its machines consist of."""
    programs: dict[str, Callable[[], list[int]]] = {name: (lambda name=name: stack.pids(name)) for name in stack.names}  # type: ignore[misc]
    killed_programs = [Victim(name, found, job=name.startswith(("worker", "beat"))) for name, found in programs.items()]
    frozen_programs = [
        Victim(f"{name} frozen", programs[name], freeze=FREEZE_SECONDS)
        for name in ("web", "web-2", "bridge", "redis", "worker", "model")
    ]
    guests = stack.machine_logs.alive
    return (
        *killed_programs,
        *frozen_programs,
        Victim("web frozen long", programs["web"], freeze=LONG_FREEZE_SECONDS),
        Victim("worker child", lambda: _descendants_running(stack.pids("worker"), b"celery"), job=True),
        Victim("redis emptied", programs["redis"], lambda pid: _empty_redis(stack, pid)),
        Victim("redis emptied with the bridge", programs["redis"], lambda pid: _empty_redis(stack, pid, "bridge")),
        Victim("database backend", lambda: _backends(stack)),
        Victim("database connection", lambda: _backends(stack), lambda pid: _terminate_backend(stack, pid)),
        Victim("database backend frozen", lambda: _backends(stack), freeze=FREEZE_SECONDS),
        Victim("guest", guests, lambda pid: _guest(stack, pid)),
        Victim("guest frozen", guests, freeze=FREEZE_SECONDS),
        Victim(
            "screen of a guest", lambda: _descendants_running(guests(), b"Xtigervnc"), lambda pid: _screen(stack, pid)
        ),
        Victim("browser engine", lambda: _chromium(stack, engine=True)),
        Victim("browser engine frozen", lambda: _chromium(stack, engine=True), freeze=FREEZE_SECONDS),
        Victim("browser page", lambda: _chromium(stack, engine=False)),
        Victim("socket", sockets=_one_socket),
        Victim("all sockets", sockets=_all_sockets),
    )


def _descendants_running(pids: list[int], word: bytes) -> list[int]:
    return [child for pid in pids for child in descendant_pids(pid) if word in command_line(child)]


def _backends(stack: Stack) -> list[int]:
    with contextlib.suppress(psycopg.Error), psycopg.connect(stack.database, connect_timeout=5) as connection:
        rows = connection.execute(
            "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        ).fetchall()
        return [int(row[0]) for row in rows]
    return []


def _terminate_backend(stack: Stack, pid: int) -> bool:
    """As an operator ends a connection."""
    with contextlib.suppress(psycopg.Error), psycopg.connect(stack.database, connect_timeout=5) as connection:
        row = connection.execute("SELECT pg_terminate_backend(%s)", [pid]).fetchone()
        return bool(row and row[0])
    return False


def _empty_redis(stack: Stack, pid: int, *others: str) -> bool:
    """Redis comes back without its data."""
    for name in others:
        for other in stack.pids(name):
            kill_process(other)
    hit = kill_process(pid)
    stack.empty_redis()
    return hit


def _guest(stack: Stack, pid: int) -> bool:
    """Its witness is read while it stands still, before it is gone."""
    if not send_signal(pid, signal.SIGSTOP):
        return False
    stack.machine_logs.end(pid)
    return kill_process(pid)


def _screen(stack: Stack, pid: int) -> bool:
    """The screen's program is in the same file system as its guest."""
    stack.machine_logs.end(pid)
    return kill_process(pid)


def _chromium(stack: Stack, *, engine: bool) -> list[int]:
    """Browser processes, or those of their pages."""
    found = []
    for pid in _descendants_running(stack.pids("bridge"), ENGINE):
        words = command_line(pid)
        if words.startswith((b"bwrap", b"/bin/sh")):
            continue
        if (b"--type=" not in words) if engine else (b"--type=renderer" in words):
            found.append(pid)
    return found


def _one_socket(people: Sequence[Annotator], rng: random.Random) -> bool:
    person = rng.choice(people)
    return person.episode_client is not None and person.episode_client.abort()


def _all_sockets(people: Sequence[Annotator], rng: random.Random) -> bool:
    return any([person.episode_client is not None and person.episode_client.abort() for person in people])
