"""Attempts in real browsers become updates: the policy is served, plays, is learned from, and plays again as it is now.

Three programs that share two folders and a server's address: `trainer ppo`, `trainer.serve` and `agent_backend.rollout
--stream`. Each is killed once and started again with the same words.
"""

import asyncio
import json
import os
import socket
import sys
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from annotation_app.operations.console import Console
from annotation_app.operations.install.extra_environments import ensure_trainer
from annotation_app.operations.runtime.ports import free_port
from annotation_app.operations.runtime.stack import ROOT
from tests.integration.bridge.conftest import SECRET, RunningBridge
from tests.waiting import eventually
from trainer.data.trajectories import open_folder
from vm_bridge.hosts.browser.host import BrowserHost
from vm_bridge.suites.registry import WEB_SUITES

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600), pytest.mark.xdist_group("servers")]

BOUND = 1500.0
"""How long one thing may take on a machine with much else to do (seconds)."""
SEEDS, TASKS = 2, ("lights", "tubes")
ATTEMPTS = SEEDS * len(TASKS)
FIRST, SECOND = "update-000000", "update-000001"

Program = asyncio.subprocess.Process


@pytest.fixture
async def fake_host(tmp_path: Path) -> AsyncIterator[BrowserHost]:
    """Real browsers in place of the fakes."""
    host = BrowserHost(tmp_path / "browsers", WEB_SUITES)
    yield host
    await host.close()


class Programs:
    """Programs with a log each, which are ended with the test."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: list[Program] = []

    async def start(self, name: str, *command: str | Path) -> Program:
        environment = {**os.environ, "PILOTHOUSE_SECRET": SECRET, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
        with (self._folder / f"{name}.log").open("ab") as log:
            program = await asyncio.create_subprocess_exec(
                *command, cwd=ROOT, env=environment, stdout=log, stderr=asyncio.subprocess.STDOUT
            )
        self._running.append(program)
        return program

    async def done(self, name: str, *command: str | Path) -> None:
        """Have it done."""
        await self.ended(name, await self.start(name, *command))

    async def ended(self, name: str, program: Program) -> None:
        """Wait until it has done what it was told."""
        async with asyncio.timeout(BOUND):
            assert await program.wait() == 0, self.said(name)[-4000:]

    async def kill(self, program: Program) -> None:
        assert program.returncode is None, "it ended by itself"
        program.kill()
        await program.wait()

    async def close(self) -> None:
        for program in self._running:
            if program.returncode is None:
                await self.kill(program)

    def said(self, name: str) -> str:
        return (self._folder / f"{name}.log").read_text()


@pytest.fixture
async def programs(tmp_path: Path) -> AsyncIterator[Programs]:
    programs = Programs(tmp_path)
    yield programs
    await programs.close()


async def served(programs: Programs, python: Path, port: int, weights: Path) -> Program:
    """A model server with these weights, by their name."""
    words = ["--served-model-name", "tiny", "--port", str(port), "--weight-version", weights.name]
    program = await programs.start("server", python, "-m", "trainer.serve", weights, *words, "--threads", "1", "--dev")
    await eventually(lambda: program.returncode is not None or answers(port), BOUND)
    assert program.returncode is None, programs.said("server")[-4000:]
    return program


def answers(port: int) -> bool:
    """Whether somebody listens there."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def stream(bridge: RunningBridge, port: int, run: Path, inbox: Path) -> list[str | Path]:
    """The command that plays for two updates, in turns with the trainer."""
    tasks = [word for name in TASKS for word in ("--task", name)]
    return [
        *(sys.executable, "-m", "agent_backend.rollout", "--bridge", bridge.url, "--suite", "games", *tasks),
        *("--seeds", str(SEEDS), "--size", "320x240", "--model-url", f"http://127.0.0.1:{port}/v1", "--model", "tiny"),
        *("--dialect", "ui_tars_1_5", "--revision", "stream", "--temperature", "1", "--parallel", "2"),
        *("--stream", run, "--out", inbox, "--attempts", str(ATTEMPTS), "--ahead", "0", "--updates", "2"),
    ]


async def test_attempts_in_browsers_become_updates(bridge: RunningBridge, programs: Programs, tmp_path: Path) -> None:
    python = await asyncio.to_thread(ensure_trainer, Console())
    start, run, inbox, port = tmp_path / "start", tmp_path / "run", tmp_path / "inbox", free_port()
    await programs.done("clicker", python, "-m", "tests.integration.bridge.rollout.random_click_policy", start)
    told = {"checkpoint": start, "out": run, "inbox": inbox, "attempts": ATTEMPTS, "updates": 2, "patience": BOUND}
    told |= {"tokens": 8192, "sequences": 2, "learning_rate": 0.0001, "warmup": 1}
    told |= {"shaping.partial": "true", "shaping.budget": 0.5, "shaping.most_steps": 10}
    words = [word for name, value in told.items() for word in ("--set", f"{name}={value}")]
    ppo: list[str | Path] = [python, "-m", "trainer", "ppo", *words]
    play = stream(bridge, port, run, inbox)

    async def kept(name: str, trainer: Program) -> None:
        await eventually(lambda: (run / name).exists() or trainer.returncode is not None, BOUND)
        assert (run / name).exists(), programs.said("ppo")[-4000:]

    async def whole(count: int, player: Program) -> None:
        await eventually(lambda: programs.said("player").count("verdict") >= count or player.returncode, BOUND)
        assert not player.returncode, programs.said("player")[-4000:]

    trainer = await programs.start("ppo", *ppo)
    await kept(FIRST, trainer)
    server = await served(programs, python, port, run / FIRST)
    player = await programs.start("player", *play)
    await whole(1, player)
    await programs.kill(player)
    player = await programs.start("player", *play)

    await kept(SECOND, trainer)
    await programs.kill(trainer)
    trainer = await programs.start("ppo", *ppo)
    await whole(ATTEMPTS + 1, player)
    await programs.kill(server)
    await served(programs, python, port, run / SECOND)
    if await player.wait():
        assert "policy_unavailable" in programs.said("player"), "it waited for the server for as long as it does"
        await programs.done("player", *play)
    await programs.ended("ppo", trainer)

    figures = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    assert [one["update"] for one in figures] == [1, 2]
    assert [(one["attempts"], one["refused"], one["versions"]) for one in figures] == [(ATTEMPTS, 0, 1)] * 2
    assert [one["age"] for one in figures] == [0, 0], "the weights that were exchanged have played"
    assert all(one["gradient"] > 0 for one in figures), "no two attempts are worth the same"
    assert all(abs(one["kl_rollout"]) < 1e-6 for one in figures), "tokens are as likely here as where they were drawn"
    attempts = [one for folder in sorted((inbox / ".taken").iterdir()) for one in open_folder(folder).trajectories()]
    assert len({one.id for one in attempts}) == len(attempts) == 2 * ATTEMPTS
    assert Counter(one.task.id for one in attempts) == {one.task.id: 2 for one in attempts}, "each page in both updates"
    drawn = {span.version for one in attempts for row in one.proposals for span in row[0].weight_versions}
    assert drawn == {FIRST, SECOND}
    acted = Counter(step.action.kind for one in attempts for step in one.steps)
    assert acted["click"] > 0, "something was done in the browsers"
    assert acted["finish"] > 0
