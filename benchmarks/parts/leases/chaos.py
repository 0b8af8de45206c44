"""Managers and clients killed at random while they claim; then who held what is counted."""

import itertools
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.figures import print_progress
from benchmarks.parts.leases.ownership_log import (
    count_overlaps,
    count_rejected_holders,
    count_token_regressions,
    read_intervals,
)
from benchmarks.parts.leases.simulated_fleet import SimulatedFleet, run_fleet
from benchmarks.parts.waiting import log_tail
from vm_bridge.simulators.fake.call_log import read_entries

MACHINES, MANAGERS, PROCESSES, HOLDERS = 20, 3, 3, 10
MEAN_KILL_INTERVAL_SECONDS = 2.0
"""Between two kills (seconds)."""
RECOVERY_TIMEOUT_SECONDS = 30.0
"""Longest until every machine is free again when nobody claims any more."""


def measure(folder: Path, *, seconds: float = 60.0) -> dict[str, int]:
    """Leases that overlapped, and machines that did not come back."""
    with run_fleet(folder / "chaos", machines=MACHINES, workers=MANAGERS) as running:
        kills = _kill_at_random(running, folder, seconds)
        lost = MACHINES - _wait_for_free_machines(running)
    intervals, entries = read_intervals(folder.glob("believed-*")), read_entries(running.journal)
    double = count_overlaps(intervals) + count_token_regressions(entries) + count_rejected_holders(entries, intervals)
    print_progress(f"{len(intervals)} leases, {len(entries)} calls, {kills} kills, {double} doubly held")
    return {"double_leases": double, "chaos_leases": len(intervals), "chaos_kills": kills, "lost_machines": lost}


def _kill_at_random(running: SimulatedFleet, folder: Path, seconds: float) -> int:
    """Kill a manager or a process of clients every now and then; how often."""
    numbers = itertools.count()
    with _client_processes() as clients:
        clients += [_start_holders(running, folder, next(numbers)) for _ in range(PROCESSES)]
        end, kills = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            time.sleep(random.random() * 2 * MEAN_KILL_INTERVAL_SECONDS)
            if ended := [client for client in clients if client.poll() is not None]:
                log = log_tail(folder / "holders.log")
                raise RuntimeError(f"clients ended by themselves with {ended[0].returncode}: {log}")
            managers = _manager_pids(running.manager)
            _raise_if_ended(clients, folder)
            if random.random() < 0.5 or not managers:  # the last one killed is not there again yet
                victim = clients.pop(random.randrange(len(clients)))
                victim.kill()
                victim.wait()
                clients.append(_start_holders(running, folder, next(numbers)))
            else:
                os.kill(random.choice(managers), signal.SIGKILL)
            kills += 1
        _raise_if_ended(clients, folder)
    return kills


def _raise_if_ended(clients: "list[subprocess.Popen[bytes]]", folder: Path) -> None:
    """Clients end only when they are killed. Raises RuntimeError: of one that fell over no lease is counted."""
    for client in clients:
        if client.poll() is not None:
            log = (folder / "holders.log").read_text(errors="replace")
            raise RuntimeError(f"a client ended with status {client.returncode}: {log[-2_000:]}")


@contextmanager
def _client_processes() -> Iterator["list[subprocess.Popen[bytes]]"]:
    """Processes that are killed when the block ends."""
    clients: list[subprocess.Popen[bytes]] = []
    try:
        yield clients
    finally:
        for client in clients:
            client.kill()
            client.wait()


def _start_holders(running: SimulatedFleet, folder: Path, number: int) -> "subprocess.Popen[bytes]":
    file = folder / f"believed-{number}"
    command = (
        sys.executable,
        "-m",
        "benchmarks.parts.leases.lease_holders",
        running.url,
        running.secret,
        str(file),
        str(HOLDERS),
    )
    with (folder / "holders.log").open("ab") as log:
        return subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)


def _manager_pids(pid: int) -> list[int]:
    """The managers; the process that multiprocessing keeps beside them is not one."""
    found = []
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        with suppress(FileNotFoundError):  # one killed just before
            if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(int(child))
    return found


def _wait_for_free_machines(running: SimulatedFleet) -> int:
    """How many machines are free once every lease has run out."""
    end = time.monotonic() + RECOVERY_TIMEOUT_SECONDS
    while (free := sum(int(str(image["free"])) for image in running.get("images"))) < MACHINES:
        if time.monotonic() > end:
            break
        time.sleep(0.2)
    return free
