"""Attempts as tasks of a Ray cluster, on real browsers: what comes back is what an attempt here would have given."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from annotation_app.operations.install.extra_environments import RAY_FOLDER
from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.processes import command_line, descendant_pids
from benchmarks.parts.ray_cluster.cluster import Cluster
from tests.integration.bridge.conftest import RunningBridge
from tests.integration.cluster.cluster_helpers import MARKS
from tests.integration.cluster.cluster_helpers import placed as placed
from trainer.data.trajectories import open_folder
from vm_bridge.hosts.browser.host import BrowserHost
from vm_bridge.suites.registry import WEB_SUITES

pytestmark = list(MARKS)
BOUND = 500.0
SEEDS = 2
TASK = b"ray::run_remote_attempt"
"""What Ray calls the process that has such a task."""


@pytest.fixture
async def fake_host(tmp_path: Path) -> AsyncIterator[BrowserHost]:
    """Real browsers in place of the fakes."""
    host = BrowserHost(tmp_path / "browsers", WEB_SUITES)
    yield host
    await host.close()


async def test_attempts_run_as_tasks_and_one_that_breaks_off_is_tried_again(
    placed: Cluster, bridge: RunningBridge, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    what = ("--bridge", bridge.url, "--suite", "games", "--task", "lights", "--expert", "--seeds", str(SEEDS))
    where = ("--ray", placed.address, "--ray-cpus", "0.5", "--parallel", "2", "--out", str(out))
    command = await asyncio.create_subprocess_exec(
        *(str(RAY_FOLDER / "bin" / "python"), "-m", "agent_backend.rollout", *what, *where),
        cwd=ROOT,
        env={**os.environ, **placed.environment},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(BOUND):
        killing = asyncio.create_task(kill_one(placed))
        said = (await command.communicate())[0].decode()
        await killing
    assert command.returncode == 0, said
    assert "it is tried again: the task broke off" in said
    trajectories = list(open_folder(out).trajectories())
    assert sorted(one.task.seed or 0 for one in trajectories) == list(range(SEEDS))
    assert all(one.verdict is not None and one.verdict.success and one.terminated for one in trajectories)
    pictures = {one.steps[0].before.screenshot for one in trajectories}
    assert len(pictures) == SEEDS, "every seed shows another board"
    assert all(any(out.rglob(f"{picture.sha256}*")) for picture in pictures if picture)


async def kill_one(cluster: Cluster) -> None:
    """Kill the first process that attempts something, as soon as there is one."""
    while True:
        for pid in (pid for node in cluster.nodes.values() for pid in descendant_pids(node)):
            if command_line(pid).startswith(TASK):
                return os.kill(pid, signal.SIGKILL)
        await asyncio.sleep(0.02)
