"""One real act on the whole stack, from the desk's socket to the stored step: what it enters and what it costs."""

import asyncio
import contextlib
import json
import os
import random
import statistics
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import httpx

from annotation_app.operations.runtime.stack import ROOT
from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform, temporary_platform
from benchmarks.parts.concurrency import in_background
from benchmarks.parts.figures import print_progress
from benchmarks.parts.kills.episode_client import EpisodeClient
from benchmarks.parts.paths.records import Record, begin_record, counted, end_record, traced_environment
from benchmarks.parts.paths.tracer.sitecustomize import GUEST_RECORDS
from benchmarks.parts.processes import GUEST, command_line, descendant_pids
from benchmarks.parts.waiting import wait_until

ACTS, WARM_UP_ACTS = 15, 4
ACT_SECONDS, READY_SECONDS, SEED_SECONDS, HTTP_SECONDS = 60.0, 180.0, 120.0, 30.0
FIRST_X, FIRST_Y, STRIDE, COLUMNS = 500, 230, 48, 4
"""Where the acts click, and how far apart (pixels): on text, so that each moves the cursor."""
LINES = "\n".join("words " * 20 for _ in range(40))


def measure(folder: Path) -> dict[str, Any]:
    """What most of the acts have in common; what beats now and then in a process is in few of them."""
    out = folder / "records"
    with traced_environment(out), temporary_platform(folder / "platform") as platform:
        acts = asyncio.run(_act(platform, out))
    files = {process: _common_files([act[process] for act in acts]) for process in acts[0]}
    everything = counted(set().union(*files.values()))
    for process, entered in files.items():
        print_progress(f"{process}: {', '.join(entered)}")
    return {
        "click_path_files": len(everything),
        "click_path_files_by_process": {process: len(entered) for process, entered in files.items()},
        "bridge_calls_per_act": _median_calls(acts, "web", "http_requests"),
        "db_transactions_per_act": _median_calls(acts, "web", "transactions"),
        "queries_per_act": _median_calls(acts, "web", "queries"),
        "state_folds_per_act": _median_calls(acts, "web", "folds"),
        "observations_per_act": _median_calls(acts, "bridge", "observations"),
    }


def _common_files(records: list[Record]) -> list[str]:
    """The files that count and were entered in more than half of the acts."""
    times = Counter(file for record in records for file in record.files)
    return counted({file for file, count in times.items() if count > len(records) / 2})


def _median_calls(acts: list[dict[str, Record]], process: str, name: str) -> float:
    found = statistics.median(act[process].calls[name] for act in acts)
    if not found:
        raise RuntimeError(f"the tracer counted no {name} in {process}: a function that it names has moved")
    return found


async def _act(platform: TemporaryPlatform, out: Path) -> list[dict[str, Record]]:
    """The records of each act, by process."""
    seeded = await asyncio.to_thread(_seed, platform)
    address = platform.url.removeprefix("http://")
    episode = await _next_episode(platform.url, seeded)
    client = EpisodeClient(episode, seeded["session"], (address,), platform.url, random.Random(1))
    async with in_background(client.run()):
        await wait_until(lambda: client.status == "running" and client.has_control, READY_SECONDS, "the desktop runs")
        await _do(client, {"kind": "open_app", "name": "mousepad"})
        await _do(client, {"kind": "type_text", "text": LINES})
        tracer = _Tracer(platform, out)
        for number in range(WARM_UP_ACTS):
            await _click(client, number)
        acts = []
        for number in range(WARM_UP_ACTS, WARM_UP_ACTS + ACTS):
            tracer.begin()
            await _click(client, number)
            acts.append(await asyncio.to_thread(tracer.end))
    return acts


class _Tracer:
    """The processes that an act goes through."""

    def __init__(self, platform: TemporaryPlatform, out: Path) -> None:
        bridge = platform.pid("bridge")
        guests = [pid for pid in descendant_pids(bridge) if GUEST in command_line(pid) and _pid_inside(pid) is not None]
        self._pids = {"web": platform.pid("web"), "bridge": bridge}
        self._guests, self._out = guests, out

    def begin(self) -> None:
        for pid in (*self._pids.values(), *self._guests):
            begin_record(pid)

    def end(self) -> dict[str, Record]:
        """The records; the guest is the one that the first act went to."""
        records = {process: end_record(pid, self._out) for process, pid in self._pids.items()}
        guests = {
            pid: end_record(pid, Path(f"/proc/{pid}/root{GUEST_RECORDS}"), _pid_inside(pid)) for pid in self._guests
        }
        used = max(guests, key=lambda pid: len(guests[pid].files))
        self._guests = [used]
        return {**records, "guest": guests[used]}


def _pid_inside(pid: int) -> int | None:
    """The process id in its own namespace; None for a process that is in ours, or has ended."""
    with contextlib.suppress(OSError, StopIteration):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        numbers = next(line for line in lines if line.startswith("NSpid:")).split()[1:]
        if len(numbers) > 1 and Path(f"/proc/{pid}/exe").resolve().name.startswith("python"):
            return int(numbers[-1])
    return None


async def _click(client: EpisodeClient, number: int) -> None:
    """A click that changes the screen."""
    row, column = divmod(number, COLUMNS)
    step = await _do(client, {"kind": "click", "x": FIRST_X + STRIDE * column, "y": FIRST_Y + STRIDE * row})
    if step["before"]["screenshot"] == step["after"]["screenshot"]:
        raise RuntimeError("a click changed nothing")


async def _do(client: EpisodeClient, action: dict[str, Any]) -> dict[str, Any]:
    """The stored step of an act. Raises RuntimeError for one that failed."""
    sent = client.send({"type": "act", "thought": "", "action": action})
    await wait_until(lambda: sent.step is not None and sent.fate != "recorded", ACT_SECONDS, "the step is stored")
    if sent.step is None or sent.step["error"] is not None:
        raise RuntimeError(f"{action['kind']} failed: {sent.fate} {sent.step}")
    return sent.step


def _seed(platform: TemporaryPlatform) -> dict[str, Any]:
    seeded: dict[str, Any] = json.loads(
        subprocess.run(
            [sys.executable, "-m", "benchmarks.parts.paths.seed"],
            cwd=ROOT, env={**os.environ, **platform.environment}, capture_output=True, text=True, check=True,
            timeout=SEED_SECONDS,
        ).stdout.splitlines()[-1]
    )  # fmt: skip
    return seeded


async def _next_episode(url: str, seeded: dict[str, Any]) -> str:
    """Take a task as the queue's page does."""
    cookies = {"sessionid": seeded["session"]}
    async with httpx.AsyncClient(
        base_url=f"{url}/api/", cookies=cookies, trust_env=False, timeout=HTTP_SECONDS
    ) as http:
        token = (await http.get("session")).raise_for_status().json()["csrf"]
        headers = {"X-CSRFToken": token, "Origin": url}
        answer = await http.post("queue/next", json={"pool_id": seeded["pool"]}, headers=headers)
    episode: str = answer.raise_for_status().json()["episode_id"]
    return episode
