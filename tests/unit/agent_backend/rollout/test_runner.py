"""Attempts side by side: each is told of as it ends, and one that was lost is none of the policy's."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent_backend.episode.limits import RunnerLimits
from agent_backend.errors import PolicyMisconfigured
from agent_backend.policy.expert import ExpertPolicy
from agent_backend.rollout import progress as progress_module
from agent_backend.rollout.attempt_log import AttemptLog
from agent_backend.rollout.attempts import AttemptResult, run_episode
from agent_backend.rollout.plan import RolloutPlan
from agent_backend.rollout.progress import ProgressFile, RolloutCancelled, cancel_path
from agent_backend.rollout.runner import MAX_TRIES, RolloutRunner
from agent_backend.rollout.task_sources import read_source
from agent_backend.trajectory_folders import TrajectoryFolderWriter, count_infrastructure
from protocol.actions.types import Finish
from protocol.evaluation.records import AttemptRecord, RolloutProgress
from protocol.trajectory.observations import Verdict
from protocol.trajectory.proposals import PolicyRef
from protocol.trajectory.tasks import Task
from protocol.trajectory.trajectories import Trajectory
from tests.waiting import eventually
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import MachineGone, VerifierFailed
from vm_bridge.machine import ExpertSuggestion
from vm_bridge.simulators.fake.machine import FakeMachine
from vm_bridge.simulators.fake.sandbox import FakeSandbox

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def finished(task: Task, *, success: bool) -> AttemptResult:
    trajectory = Trajectory(
        id=f"t-{task.id}",
        task=task,
        origin="rollout",
        steps=(),
        policies=(),
        outcome="success" if success else "failure",
        verdict=Verdict(success=success, score=float(success), verifier="abc"),
        terminated=True,
        truncated=False,
        created_at=NOW,
        finished_at=NOW,
    )
    return AttemptResult(trajectory, "", {})


async def run(
    tmp_path: Path, attempt: Callable[[Task], Awaitable[AttemptResult]], *, parallel: int = 2
) -> tuple[list[dict[str, object]], Path]:
    source, out = tmp_path / "tasks.jsonl", tmp_path / "out"
    source.write_text("".join(f'{{"id": "{name}", "instruction": "Do."}}\n' for name in "abc"))
    plan = RolloutPlan(
        source=str(source),
        source_sha256=read_source(str(source)).sha256,
        policy=PolicyRef(name="p", revision="r", dialect="ui_tars_1_5"),
    )
    log = AttemptLog(tmp_path / "attempts.jsonl")
    progress = ProgressFile(out)
    folder = TrajectoryFolderWriter(out, {"plan": plan.record()})
    async with BridgeClient("http://127.0.0.1:1", "") as bridge:
        await RolloutRunner(
            attempt_runner=attempt, attempt_log=log, log=lambda _: None, plan=plan, bridge=bridge, folder=folder,
            progress=progress,
        ).run(parallel)  # fmt: skip
    folder.finish(at=NOW, infrastructure=log.infrastructure)
    return [json.loads(line) for line in (tmp_path / "attempts.jsonl").read_text().splitlines()], out


async def test_an_attempt_whose_verifier_fails_is_no_sample() -> None:
    class UnjudgedMachine(FakeMachine):
        async def evaluate(self, *, answer: str = "") -> Verdict:
            raise VerifierFailed("its tests wrote no reward")

    async def end() -> ExpertSuggestion:
        return ExpertSuggestion(thought="Nothing to do.", action=Finish())

    sandbox = FakeSandbox("desktop")
    ref = PolicyRef(name="p", revision="r", dialect="ui_tars_1_5", scripted=True)
    task = Task(id="a", instruction="Do.")
    result = await run_episode(UnjudgedMachine(sandbox, 1), task, ExpertPolicy(ref, end), RunnerLimits())
    assert (result.trajectory, result.code) == (None, "verifier_failed")
    assert "its tests wrote no reward" in result.error


async def test_lost_machines_are_counted_apart_and_are_no_failures(tmp_path: Path) -> None:
    async def attempt(task: Task) -> AttemptResult:
        if task.id == "a":
            raise MachineGone("its host was killed")
        return finished(task, success=task.id == "b")

    records, out = await run(tmp_path, attempt)
    outcomes = sorted((record["task"], record["outcome"], record["code"]) for record in records)
    assert outcomes == [
        *[("a", "infrastructure", "machine_gone")] * MAX_TRIES,
        ("b", "success", ""),
        ("c", "failure", ""),
    ]
    assert all((record["trajectory"] is None) == (record["outcome"] == "infrastructure") for record in records)
    assert count_infrastructure(out) == MAX_TRIES
    samples = (out / "trajectories.jsonl").read_text().splitlines()
    assert sorted(json.loads(line)["task"]["id"] for line in samples) == ["b", "c"]


async def test_a_server_that_is_gone_ends_the_command_and_keeps_the_attempts_that_end(tmp_path: Path) -> None:
    gone = asyncio.Event()

    async def attempt(task: Task) -> AttemptResult:
        if task.id == "a":
            await gone.wait()
            return finished(task, success=True)
        gone.set()
        raise PolicyMisconfigured("it has no key")

    with pytest.raises(PolicyMisconfigured):
        await run(tmp_path, attempt)
    records = [
        AttemptRecord.model_validate_json(line) for line in (tmp_path / "attempts.jsonl").read_text().splitlines()
    ]
    assert sorted((record.task, record.outcome, record.code) for record in records) == [
        ("a", "success", ""),
        ("b", "infrastructure", "policy_misconfigured"),
    ]
    progress = RolloutProgress.model_validate_json((tmp_path / "out.progress.json").read_bytes())
    assert (progress.done, progress.total, progress.infrastructure, progress.running) == (1, 3, 1, ())


async def test_running_attempts_are_told_while_they_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def running() -> set[str]:
        progress = RolloutProgress.model_validate_json((tmp_path / "out.progress.json").read_bytes())
        return {each.task for each in progress.running}

    async def attempt(task: Task) -> AttemptResult:
        await eventually(lambda: task.id in running())
        return finished(task, success=True)

    monkeypatch.setattr(progress_module, "WRITE_SECONDS", 0.01)
    records, _ = await run(tmp_path, attempt)
    assert len(records) == 3
    assert running() == set()


def test_a_line_that_a_crash_prevented_is_written_afterwards(tmp_path: Path) -> None:
    path, task = tmp_path / "attempts.jsonl", Task(id="a", instruction="Do.")
    done = finished(task, success=True).trajectory
    assert done is not None
    AttemptLog(path).add(done)
    with path.open("ab") as lines:
        lines.write(b'{"task": "b", "na')
    log = AttemptLog(path)
    log.add_missing(done)
    log.add_missing(done.model_copy(update={"id": "t-other"}))
    assert [json.loads(line)["trajectory"] for line in path.read_text().splitlines()] == ["t-a", "t-other"]


async def test_a_cancelled_rollout_begins_no_further_attempt_and_resumes(tmp_path: Path) -> None:
    begun: list[str] = []

    async def attempt(task: Task) -> AttemptResult:
        begun.append(task.id)
        if len(begun) == 2:
            cancel_path(tmp_path / "out").touch()
        return finished(task, success=True)

    with pytest.raises(RolloutCancelled):
        await run(tmp_path, attempt, parallel=1)
    assert len(begun) == 2
    progress = RolloutProgress.model_validate_json((tmp_path / "out.progress.json").read_bytes())
    assert (progress.ended, progress.done) == (True, len(begun))
    records, _ = await run(tmp_path, attempt)
    assert sorted(str(record["task"]) for record in records) == ["a", "b", "c"]


async def test_the_next_attempt_runs_while_the_last_one_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, add = threading.Event(), TrajectoryFolderWriter.add

    def add_once_the_next_has_begun(self: TrajectoryFolderWriter, done: Trajectory, blob: object) -> None:
        assert done.task.id != "a" or begun.wait(10), "b did not begin while a was written"
        add(self, done, lambda _: None)

    async def attempt(task: Task) -> AttemptResult:
        if task.id == "b":
            begun.set()
        return finished(task, success=True)

    monkeypatch.setattr(TrajectoryFolderWriter, "add", add_once_the_next_has_begun)
    records, out = await run(tmp_path, attempt, parallel=1)
    assert [record["task"] for record in records] == ["a", "b", "c"]
    assert len((out / "trajectories.jsonl").read_text().splitlines()) == 3
