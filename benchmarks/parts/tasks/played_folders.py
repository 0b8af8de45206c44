"""Exported task folders played over a real bridge: by their solutions, and by a policy that ends at once."""

import asyncio
import json
import tempfile
from collections import deque
from pathlib import Path

from agent_backend.episode.limits import RunnerLimits
from agent_backend.policy.expert import ExpertPolicy
from agent_backend.rollout.__main__ import parse_arguments, roll_out
from agent_backend.rollout.attempts import run_attempt
from agent_backend.rollout.task_sources import read_tasks
from agent_backend.trajectory_folders import read_trajectories
from benchmarks.parts.figures import print_progress
from benchmarks.parts.tasks.bad_folders import GOOD
from benchmarks.parts.tasks.bad_verifiers import BAD_VERIFIERS
from protocol.actions.types import Finish
from protocol.harbor.task_folders import parse_folder
from protocol.trajectory.observations import Verdict
from protocol.trajectory.proposals import PolicyRef
from protocol.trajectory.tasks import Task
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import BridgeError, VerifierFailed
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.machine import ExpertSuggestion
from vm_bridge.suites.registry import SUITES

NO_OP = PolicyRef(name="no-op", revision="no-op", dialect="ui_tars_1_5", scripted=True)
ATTEMPT_SECONDS, PARALLEL = 300.0, 3


async def solved(folders: Path, out: Path, bridge: str) -> int:
    """How many folders their solutions solve; `PILOTHOUSE_SECRET` is the bridge's. Raises AgentError, BridgeError."""
    words = ("--bridge", bridge, "--tasks", str(folders), "--expert", "--out", str(out), "--parallel", str(PARALLEL))
    await roll_out(parse_arguments(words), out)
    found = [trajectory.verdict for _, trajectory in read_trajectories([out])]
    return sum(verdict is not None and verdict.success is True for verdict in found)


async def passed_by_nothing(folders: Path, bridge: str, secret: str) -> int:
    """How many folders reward a policy that ends at once. Raises BridgeError."""
    pending = deque(read_tasks(folders))

    async def work(client: BridgeClient) -> int:
        passed = 0
        while pending:
            task = pending.popleft()
            async with asyncio.timeout(ATTEMPT_SECONDS):
                verdict = await _end_at_once(client, task)
            passed += verdict.success is True
            print_progress(f"{task.id} without an act: reward {verdict.score:g}")
        return passed

    async with BridgeClient(bridge, secret) as client:
        return sum(await asyncio.gather(*(work(client) for _ in range(PARALLEL))))


async def _end_at_once(client: BridgeClient, task: Task) -> Verdict:
    """The verdict on a fresh environment. Raises BridgeError where there is none."""

    async def end() -> ExpertSuggestion:
        return ExpertSuggestion(thought="I do nothing.", action=Finish())

    result = await run_attempt(client, task.platform, task, lambda _: ExpertPolicy(NO_OP, end), RunnerLimits())
    verdict = result.trajectory.verdict if result.trajectory is not None else None
    if verdict is None or verdict.success is None:
        raise BridgeError(f"{task.id} was not judged: {result.error}")
    return verdict


async def lost_apart(folder: Path, bridge: str) -> bool:
    """Whether an attempt without a reward is infrastructure, beside one that succeeds."""
    broken = {**GOOD, "task.toml": b'[task]\nname = "lab/broken"\n', "tests/test.sh": b"exit 1\n"}
    for name, files in (("good", GOOD), ("broken", broken)):
        for path, data in files.items():
            place = folder / "tasks" / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
    out = folder / "apart"
    words = ("--bridge", bridge, "--tasks", str(folder / "tasks"), "--expert", "--out", str(out))
    await roll_out(parse_arguments(words), out)
    lines = (folder / "apart.attempts.jsonl").read_text().splitlines()
    outcomes = {(record["task"], record["outcome"]) for record in map(json.loads, lines)}
    samples = [trajectory.task.id for _, trajectory in read_trajectories([out])]
    return samples == ["harbor/lab/sum"] and outcomes == {
        ("harbor/lab/sum", "success"),
        ("harbor/lab/broken", "infrastructure"),
    }


async def refused_verifiers() -> int:
    """How many misbehaving verifiers end with an error that says why, on a machine that can be used afterwards."""
    refused = 0
    with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as data:
        host = LocalHost(Path(data), SUITES)
        try:
            machine = (await host.create("terminal")).bind(1)
            for script, reason in BAD_VERIFIERS.values():
                async with asyncio.timeout(ATTEMPT_SECONDS):
                    await machine.prepare(_with_tests(script))
                    try:
                        await machine.evaluate()
                    except VerifierFailed as failed:
                        refused += reason in str(failed)
                    await machine.observe()
        finally:
            await host.close()
    return refused


def _with_tests(script: str) -> Task:
    config = b"[verifier]\ntimeout_sec = 1\n"
    return parse_folder({**GOOD, "task.toml": config, "tests/test.sh": script.encode()})
