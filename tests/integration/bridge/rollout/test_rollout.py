"""Attempts by command over a real bridge with real browsers: every seed its own task, and a killed command goes on."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from annotation_app.operations.runtime.stack import ROOT
from protocol.trajectory.tasks import TaskVariant
from tests.integration.bridge.conftest import SECRET, RunningBridge
from trainer.data.trajectories import open_folder
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import InvalidAction
from vm_bridge.hosts.browser.host import BrowserHost
from vm_bridge.suites.registry import WEB_SUITES

BOUND = 240.0
"""How long a command may take (seconds)."""
SEEDS = 4


@pytest.fixture
async def fake_host(tmp_path: Path) -> AsyncIterator[BrowserHost]:
    """Real browsers in place of the fakes."""
    host = BrowserHost(tmp_path / "browsers", WEB_SUITES)
    yield host
    await host.close()


async def command(bridge: RunningBridge, out: Path, *more: str, module: str = "rollout") -> asyncio.subprocess.Process:
    place = ("--out", str(out)) if module == "rollout" else (str(out),)
    given = ("--bridge", bridge.url, "--suite", "games", "--task", "lights", "--task", "tubes", "--expert", *place)
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", f"agent_backend.{module}", *given, *more),
        cwd=ROOT,
        env={**os.environ, "PILOTHOUSE_SECRET": SECRET},
        stdout=asyncio.subprocess.PIPE,
    )


async def test_killed_attempts_go_on_and_each_seed_is_another_task(bridge: RunningBridge, tmp_path: Path) -> None:
    out, seeds = tmp_path / "out", ("--seeds", str(SEEDS), "--parallel", "2")
    async with asyncio.timeout(BOUND):
        first = await command(bridge, out, *seeds)
        assert first.stdout is not None
        assert b"verdict True" in await first.stdout.readline()
        first.send_signal(signal.SIGKILL)
        await first.wait()
        assert not out.exists(), "what is not whole has another name"
        other = await command(bridge, out, "--seeds", "2")
        assert await other.wait() == 1, "what stands aside is the beginning of another folder"
        again = await command(bridge, out, *seeds)
        said = (await again.communicate())[0].decode()
    assert again.returncode == 0
    assert "were done before" in said
    trajectories = list(open_folder(out).trajectories())
    assert len({one.task.id for one in trajectories}) == len(trajectories) == 2 * SEEDS
    assert all(one.verdict is not None and one.verdict.success and one.terminated for one in trajectories)
    lights = {one.steps[0].before.screenshot for one in trajectories if one.task.name == "lights"}
    assert len(lights) == SEEDS, "every seed shows another board"
    assert os.listdir(tmp_path / "out").count("plan.json") == 0


async def test_an_evaluation_makes_the_attempts_it_has_not(bridge: RunningBridge, tmp_path: Path) -> None:
    report, out = tmp_path / "report.json", tmp_path / "out"
    async with asyncio.timeout(BOUND):
        for _ in range(2):
            done = await command(bridge, out, "--seeds", "1", module="evaluation")
            table = (await done.communicate())[0].decode()
            assert done.returncode == 0
        last = await command(bridge, out, "--out", str(report), module="evaluation")
        await last.communicate()
    assert table.count("games/lights") == 1
    assert "verdict" not in table, "the second time nothing was attempted"
    assert [task["successes"]["successes"] for task in json.loads(report.read_text())["tasks"]] == [1, 1]


async def test_variants_of_tasks(bridge: RunningBridge) -> None:
    async with BridgeClient(bridge.url, SECRET) as client:
        one, other = [await client.suite_tasks("sites", TaskVariant(seed=seed)) for seed in (0, 1)]
        assert [task.name for task in one] == [task.name for task in other]
        assert sum(a.instruction != b.instruction for a, b in zip(one, other, strict=True)) > len(one) // 2
        small = await client.suite_tasks("games", TaskVariant(level=2, language="zh", size=(320, 240)))
        assert small
        assert all(task.parameters == {"level": 2, "language": "zh", "size": [320, 240]} for task in small)
        assert {task.seed for task in await client.suite_tasks("phone", TaskVariant(seed=3))} == {3}
        with pytest.raises(InvalidAction):
            await client.suite_tasks("desktop", TaskVariant(level=2))
