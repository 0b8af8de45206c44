"""Tasks of a desktop, a browser and a phone through OpenEnv's client, as fast as through the bridge's own."""

import asyncio
import contextlib
import json
import os
import secrets
import shutil
import statistics
import subprocess
import sys
import time
import urllib.request
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_backend.episode.limits import RunnerLimits
from agent_backend.policy.expert import ExpertPolicy
from agent_backend.rollout.attempts import leased_machine, run_attempt
from agent_backend.scripted_policy.__main__ import PHONE
from agent_backend.scripted_policy.script import load_scripts
from annotation_app.operations.runtime.ports import free_ports
from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.desktops.live_bridge import LiveBridge
from benchmarks.parts.figures import print_progress
from benchmarks.parts.tasks.harbor_run import harbor_runner
from benchmarks.parts.tasks.inspect_run import inspect_works
from benchmarks.parts.tasks.peers import PeerFailed, PeerUnavailable, last_json, peer_environment, run_peer
from benchmarks.parts.tasks.trl_run import trl_trains
from benchmarks.parts.tasks.verifiers_run import verifiers_evaluates
from benchmarks.parts.waiting import wait_for
from protocol.actions.types import ACTION_ADAPTER, Click, Finish, PressKeys, TypeText
from protocol.trajectory.proposals import PolicyRef
from protocol.trajectory.tasks import Task, TaskVariant
from vm_bridge.api.client import BridgeClient
from vm_bridge.machine import Machine

TASKS = (("desktop", "say_hello"), ("sites", ""), ("phone", "dark_mode"), ("drills", "press"))
"""Suites and names of what is played; no name: the suite's first."""
OPENENV = ("openenv==0.10.0",)
VERIFIERS = ("verifiers==0.4.0", "uv==0.13.9")
STEPS, TURNS, SESSIONS = 8, 20, 6
TURNS_PER_EPISODE = 2
"""Tasks of pages end after some twenty steps."""
READY_SECONDS, STOP_SECONDS = 180.0, 30.0
PLAYER = Path(__file__).with_name("openenv_player.py")
EXPERT = PolicyRef(name="expert", revision="expert", dialect="ui_tars_1_5", scripted=True)
KNOWN_ACTIONS = {
    "desktop": (TypeText(text="hello world"), PressKeys(keys=("ctrl", "s")), Finish()),
    "phone": tuple(
        next(line.action for line in stage.lines if not line.mistake)
        for script in load_scripts(PHONE)
        if script.task == "dark_mode"
        for stage in script.stages
    ),
}
"""What solves tasks of suites whose machines suggest nothing, by suite."""
STEP = Click(x=5, y=5)


@dataclass(frozen=True, slots=True)
class Server:
    """A running `./pilothouse openenv`."""

    url: str
    token: str

    @property
    def environment(self) -> dict[str, str]:
        """What clients are told of it."""
        return {"PILOTHOUSE_OPENENV_TOKEN": self.token}


def measure_environments(scratch: Path, bridge: LiveBridge, folders: Path) -> dict[str, Any]:
    """The figures of environments; "absent" where a peer cannot be installed."""
    tasks, actions = asyncio.run(_solutions(bridge))
    source = scratch / "environment-tasks.jsonl"
    source.write_text("".join(task.model_dump_json() + "\n" for task in tasks))
    with running_server(scratch, bridge, source) as server:
        figures = _with_openenv(scratch, bridge, server, tasks, actions)
        ours, theirs = figures["bridge_steps_per_s"], figures["openenv_steps_per_s"]
        figures["openenv_share_of_bridge"] = "absent" if theirs == "absent" else round(theirs / ours, 3)
        figures["verifiers_ok"] = _with_verifiers(scratch, server, tasks[:3], actions[:3])
        figures["inspect_ok"] = inspect_works(scratch, server.url, server.environment)
        figures["harbor_runner"] = harbor_runner(scratch, server.url, server.environment, folders)
        figures["trl_or_prime_ok"] = trl_trains(scratch, server.url, server.environment, tasks[3], actions[3])
    return figures


@contextlib.contextmanager
def running_server(scratch: Path, bridge: LiveBridge, source: Path) -> Iterator[Server]:
    """The server over the bridge, ready when the block begins."""
    (port,) = free_ports(1)
    server = Server(f"http://127.0.0.1:{port}", secrets.token_urlsafe(24))
    command = [sys.executable, "-m", "agent_backend.environments", "--bridge", bridge.url, "--tasks", str(source)]
    command += ["--listen", f"127.0.0.1:{port}", "--sessions", str(SESSIONS), "--machine-wait-seconds", "110"]
    environment = {**os.environ, **server.environment, "PILOTHOUSE_SECRET": bridge.secret}
    with (scratch / "openenv.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    try:
        wait_for(lambda: _healthy(server.url), READY_SECONDS, "the server of environments")
        yield server
    finally:
        process.terminate()
        process.wait(STOP_SECONDS)


def _healthy(url: str) -> bool:
    try:
        urllib.request.urlopen(f"{url}/health", timeout=1).close()
    except OSError:
        return False
    return True


async def _solutions(bridge: LiveBridge) -> tuple[list[Task], list[list[Any]]]:
    """The tasks, and actions that solve each of them. Raises PeerFailed where an expert does not."""
    tasks: list[Task] = []
    actions: list[list[Any]] = []
    async with BridgeClient(bridge.url, bridge.secret) as client:
        for suite, name in TASKS:
            found = await client.suite_tasks(suite, TaskVariant())
            task = next(task for task in found if name in ("", task.name))
            tasks.append(task)
            done = KNOWN_ACTIONS.get(suite) or await _expert_actions(client, task)
            actions.append([ACTION_ADAPTER.dump_python(action, mode="json") for action in done])
            print_progress(f"{task.id}: {len(done)} actions solve it")
    return tasks, actions


async def _expert_actions(client: BridgeClient, task: Task) -> tuple[Any, ...]:
    result = await run_attempt(
        client,
        task.platform,
        task,
        lambda machine: ExpertPolicy(EXPERT, machine.suggest_expert_action),
        RunnerLimits(),
    )
    trajectory = result.trajectory
    if trajectory is None or trajectory.verdict is None or not trajectory.verdict.success:
        raise PeerFailed(f"the expert does not solve {task.id}: {result.error}")
    done = tuple(step.action for step in trajectory.steps)
    return done if done and isinstance(done[-1], Finish) else (*done, Finish(answer=trajectory.answer or ""))


def _with_openenv(
    scratch: Path, bridge: LiveBridge, server: Server, tasks: list[Task], actions: list[list[Any]]
) -> dict[str, Any]:
    """What OpenEnv's client plays, and the steps per second of it and of the bridge's own client."""
    names = ("openenv_ok", "openenv_steps_per_s", "bridge_steps_per_s", "mcp_ok")
    try:
        python = peer_environment(scratch / "openenv", OPENENV)
    except PeerUnavailable as error:
        print_progress(f"openenv is absent: {error}")
        return dict.fromkeys(names, "absent")
    episodes = [
        {"task": task.id, "seed": task.seed, "actions": each} for task, each in zip(tasks, actions, strict=True)
    ]
    played = _play(python, scratch, server, {"episodes": episodes})
    print_progress(f"openenv's client: {played}")
    solved = [each["success"] is True and each["reward"] == 1.0 and each["pictures"] > 0 for each in played["episodes"]]
    speeds = _speeds(python, scratch, bridge, server, tasks[1])
    return dict(zip(names, (all(solved), *speeds, played["mcp"] and played["openenv_mcp"]), strict=True))


def _play(python: Path, scratch: Path, server: Server, plan: dict[str, Any]) -> dict[str, Any]:
    path = scratch / "episodes.json"
    path.write_text(json.dumps(plan))
    return last_json(run_peer((python, PLAYER, server.url, path), server.environment))


def _speeds(python: Path, scratch: Path, bridge: LiveBridge, server: Server, task: Task) -> tuple[float, float]:
    """Steps per second of both clients on a page: a few steps of one, then of the other, and so on, so that both meet
    the same load. The bridge's speed is from the median of its steps, the other by the median of the pairs' ratios."""
    step = ACTION_ADAPTER.dump_python(STEP, mode="json")
    path = scratch / "steps.json"
    path.write_text(json.dumps({"measure": {"task": task.id, "seed": task.seed, "step": step}}))
    player = subprocess.Popen(
        (python, PLAYER, server.url, path), env={**os.environ, **server.environment}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        return asyncio.run(_paired_speeds(bridge, task, player))
    finally:
        player.kill()
        player.communicate()


async def _paired_speeds(bridge: LiveBridge, task: Task, player: "subprocess.Popen[str]") -> tuple[float, float]:
    """See `_speeds`; each line to the player is a number of steps, and is answered by their seconds."""
    assert player.stdin is not None, "it has pipes"
    assert player.stdout is not None, "it has pipes"
    ours: list[float] = []
    ratios: list[float] = []
    async with (
        BridgeClient(bridge.url, bridge.secret) as client,
        leased_machine(client, task.platform, uuid.uuid4().hex) as machine,
    ):
        for turn in range(TURNS + 1):
            if turn % TURNS_PER_EPISODE == 0:
                await machine.prepare(task)
            player.stdin.write(f"{STEPS}\n")
            player.stdin.flush()
            theirs: list[float] = json.loads(await asyncio.to_thread(player.stdout.readline))
            own = [await _bridge_step(machine) for _ in range(STEPS)]
            if turn:  # the first warms up
                ours += own
                ratios.append(statistics.median(own) / statistics.median(theirs))
    speed = 1 / statistics.median(ours)
    return round(speed * statistics.median(ratios), 2), round(speed, 2)


async def _bridge_step(machine: Machine) -> float:
    """Seconds of a step with its picture."""
    began = time.perf_counter()
    done = await machine.perform(uuid.uuid4().hex, STEP)
    if done.after.screenshot is not None:
        await machine.blob(done.after.screenshot)
    return time.perf_counter() - began


def _with_verifiers(scratch: Path, server: Server, tasks: list[Task], actions: list[list[Any]]) -> bool | str:
    """Whether verifiers evaluates a scripted policy on our package to the verifier's reward of 1 at each task, and to 0
    where it ends the first at once."""
    package = scratch / "verifiers_pilothouse"
    shutil.copytree(ROOT / "clients" / "verifiers_pilothouse", package)
    try:
        python = peer_environment(scratch / "verifiers", (*VERIFIERS, str(package)))
    except PeerUnavailable as error:
        print_progress(f"verifiers is absent: {error}")
        return "absent"

    def evaluate(name: str, task: Task, done: list[Any]) -> float | None:
        return verifiers_evaluates(python, scratch / name, server.url, server.environment, task, done)

    right = [evaluate(f"right-{task.platform}", task, done) for task, done in zip(tasks, actions, strict=True)]
    wrong = evaluate("wrong", tasks[0], actions[0][-1:])
    print_progress(f"verifiers: rewards {right} for the solutions, {wrong} for ending at once")
    return wrong == 0.0 and all(reward == 1.0 for reward in right)
