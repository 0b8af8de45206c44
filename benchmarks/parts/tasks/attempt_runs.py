"""Rollouts as such: how many attempts they make beside the browser engine alone, what a straggler costs the others,
what is counted apart, and which attempts have their whole record."""

import asyncio
import os
import statistics
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from agent_backend.episode.executor import ExecutorLimits
from agent_backend.episode.limits import RunnerLimits
from agent_backend.episode.proposal_requests import RetryPolicy
from agent_backend.errors import AgentError
from agent_backend.evaluation.attempts import collect_attempts
from agent_backend.policy.expert import ExpertPolicy
from agent_backend.policy.openai_chat import OpenAIPolicy, PolicyEndpoint
from agent_backend.rollout.__main__ import parse_arguments, roll_out
from agent_backend.rollout.attempt_log import AttemptLog, log_path, read_records
from agent_backend.rollout.attempts import AttemptResult, run_episode
from agent_backend.rollout.experts import run_expert_attempt
from agent_backend.rollout.plan import RolloutPlan
from agent_backend.rollout.progress import ProgressFile
from agent_backend.rollout.runner import RolloutRunner
from agent_backend.rollout.task_sources import read_source
from agent_backend.trajectory_folders import TrajectoryFolderWriter, read_trajectories
from benchmarks.parts.processes import cpu_seconds_by_process
from protocol.actions.types import Finish
from protocol.evaluation.records import AttemptRecord
from protocol.trajectory.observations import Verdict
from protocol.trajectory.proposals import PolicyRef
from protocol.trajectory.tasks import Task
from protocol.trajectory.trajectories import Trajectory
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import BridgeUnavailable
from vm_bridge.local_browser import WEB_SUITES, BrowserSandbox, open_sandboxes
from vm_bridge.machine import ExpertSuggestion
from vm_bridge.simulators.fake.machine import FakeMachine
from vm_bridge.simulators.fake.sandbox import FakeSandbox

SUITE, TASKS, SEEDS, PARALLEL = "drills", ("press", "tabs", "rows", "links", "icons", "options"), 8, 2
ROUNDS = 7
SHORT_SECONDS, STRAGGLER = 0.3, "task-0"
REF = PolicyRef(name="p", revision="r", dialect="ui_tars_1_5", scripted=True)
LIMITS = RunnerLimits(executor=ExecutorLimits(reach=0.5), retry_policy=RetryPolicy(first=0.01, longest=0.01, tries=2))


async def attempts_per_minute(folder: Path, bridge: str) -> dict[str, Any]:
    """Of rollouts over the bridge, and of the browser engine alone, at the same tasks with as many pages at a time.

    Both are measured in turn, in windows of a few seconds, so that other work on the machine slows both. Each rollout
    is compared with the windows of the engine before and after it. The efficiency is the median of these ratios, with
    their first and last quartile. Processor times are of all our processes and depend little on other work.

    Raises AgentError and BridgeError.
    """
    await _timed_rollout(folder / "rolled-warm", bridge, seeds=1)
    rolled: list[Window] = []
    async with open_sandboxes(PARALLEL) as sandboxes:
        for sandbox in sandboxes:
            await run_expert_attempt(sandbox, WEB_SUITES[SUITE].make(TASKS[0]))
        alone = [await _engine_alone(sandboxes)]
        for number in range(ROUNDS):
            rolled.append(await _timed_rollout(folder / f"rolled-{number}", bridge, seeds=SEEDS))
            alone.append(await _engine_alone(sandboxes))
    ratios = [
        (before.seconds + after.seconds) / 2 / own.seconds
        for own, (before, after) in zip(rolled, pairwise(alone), strict=True)
    ]
    first, middle, last = statistics.quantiles(ratios, n=4, method="inclusive")
    attempts = len(TASKS) * SEEDS
    return {
        "rollout_attempts_per_minute": round(60 * attempts / statistics.median(one.seconds for one in rolled), 1),
        "engine_attempts_per_minute": round(60 * attempts / statistics.median(one.seconds for one in alone), 1),
        "rollout_efficiency": round(middle, 3),
        "rollout_efficiency_quartiles": [round(first, 3), round(last, 3)],
        "rollout_processor_ms": round(1000 * statistics.median(one.processor_seconds for one in rolled) / attempts, 1),
        "engine_processor_ms": round(1000 * statistics.median(one.processor_seconds for one in alone) / attempts, 1),
    }


@dataclass(frozen=True, slots=True)
class Window:
    """The duration of a measurement, and the processor time that all our processes used in it."""

    seconds: float
    processor_seconds: float


@contextmanager
def _measure_window() -> Iterator[list[Window]]:
    """Measure the block: the list holds its window afterwards. Processes that end in the block are not counted."""
    found: list[Window] = []
    before, began = cpu_seconds_by_process(os.getpid()), time.perf_counter()
    yield found
    seconds = time.perf_counter() - began
    after = cpu_seconds_by_process(os.getpid())
    found.append(Window(seconds, sum(used - before.get(pid, 0.0) for pid, used in after.items())))


async def _timed_rollout(out: Path, bridge: str, *, seeds: int) -> Window:
    words = [word for task in TASKS for word in ("--task", task)]
    words += ["--bridge", bridge, "--suite", SUITE, "--expert", "--out", str(out)]
    words += ["--seeds", str(seeds), "--parallel", str(PARALLEL)]
    with _measure_window() as found:
        await roll_out(parse_arguments(words), out)
    return found[0]


async def _engine_alone(sandboxes: Sequence[BrowserSandbox]) -> Window:
    suite = WEB_SUITES[SUITE]
    pending = deque(suite.make(name, seed=seed) for seed in range(SEEDS) for name in TASKS)

    async def work(sandbox: BrowserSandbox) -> None:
        while pending:
            await run_expert_attempt(sandbox, pending.popleft())

    with _measure_window() as found:
        await asyncio.gather(*(work(sandbox) for sandbox in sandboxes))
    return found[0]


async def straggler_wait_share(folder: Path) -> float:
    """Which share of the machines' time is idle while attempts are to be made, with one attempt ten times as long."""
    intervals: list[tuple[float, float]] = []

    async def attempt(task: Task) -> AttemptResult:
        began = time.perf_counter()
        await asyncio.sleep(SHORT_SECONDS * (10 if task.id == STRAGGLER else 1))
        intervals.append((began, time.perf_counter()))
        return _finished(task)

    count, parallel = 60, 4
    await _run(folder, [f"task-{number}" for number in range(count)], attempt, parallel)
    begin, last_begun = min(began for began, _ in intervals), max(began for began, _ in intervals)
    busy = sum(min(ended, last_begun) - began for began, ended in intervals)
    return round(1 - busy / (parallel * (last_begun - begin)), 3)


async def infrastructure_apart(folder: Path) -> bool:
    """Whether a killed host, a judge that does not answer and a missing key are counted beside the score, while the
    attempt beside each of them is the one sample."""
    cases: dict[str, tuple[str, Callable[[Task], Awaitable[AttemptResult]]]] = {
        "host": ("machine_failed", _on_a_killed_host),
        "judge": ("bridge_unavailable", _with_a_dead_judge),
        "key": ("policy_misconfigured", _without_a_key),
    }
    apart = True
    for name, (code, broken) in cases.items():
        place = folder / name

        async def attempt(task: Task, broken: Callable[[Task], Awaitable[AttemptResult]] = broken) -> AttemptResult:
            return await (
                broken(task) if task.id == "broken" else _played(task, _JudgedMachine(FakeSandbox("desktop"), 1))
            )

        try:
            await _run(place, ["good", "broken"], attempt, 1)
        except AgentError as error:
            apart = apart and error.code == code
        records = read_records(place / "out")
        outcomes = Counter((each.task, each.outcome, each.code) for each in records)
        samples = collect_attempts(read_trajectories([place / "out"]))
        apart = apart and {key[:2] for key in outcomes} == {("good", "success"), ("broken", "infrastructure")}
        apart = apart and {key[2] for key in outcomes if key[0] == "broken"} == {code}
        apart = apart and [each.task.name for each in samples.included] == ["good"] and not samples.left_out.unjudged
    return apart


async def _run(
    folder: Path, names: list[str], attempt: Callable[[Task], Awaitable[AttemptResult]], parallel: int
) -> None:
    """A rollout of tasks of a file by this function; its folder is finished however it ends."""
    plan, writer, log = _begin(folder, names)
    async with BridgeClient("http://127.0.0.1:1", "") as bridge:
        progress = ProgressFile(folder / "out")
        runner = RolloutRunner(
            attempt_runner=attempt, attempt_log=log, log=lambda _: None, plan=plan, bridge=bridge, folder=writer,
            progress=progress,
        )  # fmt: skip
        try:
            await runner.run(parallel)
        finally:
            writer.finish(at=datetime.now(UTC), infrastructure=log.infrastructure)


def _begin(folder: Path, names: list[str]) -> tuple[RolloutPlan, TrajectoryFolderWriter, AttemptLog]:
    folder.mkdir(parents=True)
    source, out = folder / "tasks.jsonl", folder / "out"
    source.write_text("".join(f'{{"id": "{name}", "instruction": "Do."}}\n' for name in names))
    plan = RolloutPlan(source=str(source), source_sha256=read_source(str(source)).sha256, policy=REF)
    return plan, TrajectoryFolderWriter(out, {"plan": plan.record()}), AttemptLog(log_path(out))


def _finished(task: Task) -> AttemptResult:
    now = datetime.now(UTC)
    trajectory = Trajectory(
        id=f"t-{task.id}", task=task, origin="rollout", steps=(), outcome="success", terminated=True, truncated=False,
        verdict=Verdict(success=True, score=1.0), created_at=now, finished_at=now,
    )  # fmt: skip
    return AttemptResult(trajectory, "", {})


class _JudgedMachine(FakeMachine):
    """A machine whose verifier believes everything."""

    async def evaluate(self, *, answer: str = "") -> Verdict:
        return Verdict(success=True, score=1.0, verifier="0" * 64)


class _UnreachableJudge(FakeMachine):
    async def evaluate(self, *, answer: str = "") -> Verdict:
        raise BridgeUnavailable("the judge does not answer")


async def _end() -> ExpertSuggestion:
    return ExpertSuggestion(thought="Nothing to do.", action=Finish())


async def _played(task: Task, machine: FakeMachine) -> AttemptResult:
    return await run_episode(machine, task, ExpertPolicy(REF, _end), LIMITS)


async def _with_a_dead_judge(task: Task) -> AttemptResult:
    return await _played(task, _UnreachableJudge(FakeSandbox("desktop"), 1))


async def _on_a_killed_host(task: Task) -> AttemptResult:
    sandbox = FakeSandbox("desktop")
    sandbox.crash()
    return await _played(task, _JudgedMachine(sandbox, 1))


async def _without_a_key(task: Task) -> AttemptResult:
    """Asks a server that wants a key, over HTTP."""

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = b'{"error": {"message": "no key was given"}}'
        head = f"HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        writer.write(f"{head}Connection: close\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    policy = OpenAIPolicy(
        PolicyEndpoint(
            base_url=f"http://127.0.0.1:{port}/v1", model="m", dialect=REF.dialect, name="p", revision="r",
            api_key=SecretStr(""),
        )
    )  # fmt: skip
    try:
        return await run_episode(_JudgedMachine(FakeSandbox("desktop"), 1), task, policy, LIMITS)
    finally:
        await policy.aclose()
        server.close()


def records_share(folders: list[Path]) -> float:
    """Which share of the attempts in folders has its record, and all of it."""
    attempts = whole = 0
    for folder in folders:
        records = {record.trajectory: record for record in read_records(folder)}
        for _, trajectory in read_trajectories([folder]):
            attempts += 1
            record = records.get(trajectory.id)
            whole += record is not None and _is_whole(record)
    return round(whole / attempts, 4) if attempts else 0.0


def _is_whole(record: AttemptRecord) -> bool:
    """Whether it has a reward, says how the attempt ended and by whom, and names what judged, with its version."""
    versioned = bool(record.version) or record.suite not in WEB_SUITES or record.suite == "miniwob"
    ended = record.terminated != record.truncated
    return record.reward is not None and ended and len(record.verifier) == 64 and versioned and bool(record.by)
