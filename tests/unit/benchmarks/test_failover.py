"""How lost and doubled steps are counted where a web process died, and how many acts a pilot sends."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest
from websockets.asyncio.client import ClientConnection

from benchmarks.parts.concurrency import in_background
from benchmarks.parts.failover import web_processes
from benchmarks.parts.failover.annotators import ReconnectingAnnotator
from benchmarks.parts.waiting import wait_until
from protocol.actions.types import Click


def flown(*stored: tuple[str, int]) -> ReconnectingAnnotator:
    """One who heard of two steps, with what is stored of them."""
    steps = [{"command_id": name, "action": {"x": 10, "y": y}} for name, y in stored]
    return ReconnectingAnnotator(
        episode="e", session="s", number=0, at="h:1", done=["a", "b"], stored=steps, steered=[1], acted=[1]
    )


def lost_and_doubled(annotator: ReconnectingAnnotator, *acts: int) -> tuple[float, float]:
    figures = web_processes.count_lost_and_doubled([annotator], [[Click(x=10, y=y) for y in acts]])
    return figures["lost_steps"], figures["doubled_steps"]


def test_what_is_stored_and_done_once_is_neither_lost_nor_doubled() -> None:
    assert lost_and_doubled(flown(("a", 1), ("b", 2)), 1, 2) == (0, 0)


def test_a_step_that_was_heard_of_and_is_not_stored_is_lost() -> None:
    assert lost_and_doubled(flown(("a", 1)), 1, 2) == (1, 0)


def test_a_stored_step_that_no_machine_did_is_lost() -> None:
    assert lost_and_doubled(flown(("a", 1), ("b", 2)), 1) == (1, 0)


def test_an_act_done_twice_is_doubled() -> None:
    assert lost_and_doubled(flown(("a", 1), ("b", 2)), 1, 2, 2) == (0, 1)


def test_a_command_stored_twice_is_doubled() -> None:
    assert lost_and_doubled(flown(("a", 1), ("b", 2), ("b", 3)), 1, 2, 3) == (0, 1)


async def test_a_web_process_that_ends_by_itself_is_an_error(tmp_path: Path) -> None:
    processes = web_processes.WebProcessGroup([ShortLived(port=1, host="web", environment={}, log=tmp_path / "log")])
    try:
        async with asyncio.timeout(40):
            with pytest.raises(RuntimeError, match="port 1 ended with 3: no database"):
                await processes.watch()
    finally:
        processes.end()


class ShortLived(web_processes.WebProcess):
    """A web process that cannot start."""

    def start(self) -> "subprocess.Popen[bytes]":
        with self.log.open("ab") as log:
            return subprocess.Popen([sys.executable, "-c", "print('no database', flush=True); exit(3)"], stdout=log)


async def test_a_pilot_rests_at_its_limit_and_ends_where_it_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.parts.failover.annotators.THINKING_SECONDS", 0)
    annotator = ReconnectingAnnotator(episode="e", session="s", number=1, at="h:1", limit=2)
    over, platform = asyncio.Event(), Platform()
    socket = cast(ClientConnection, platform)
    async with in_background(annotator._work(socket, over)):
        await wait_until(lambda: len(annotator.done) == 2, 40, "two steps")
        for _ in range(100):
            await asyncio.sleep(0)
        assert len(annotator.sent) == 2
        annotator.limit = 3
        await wait_until(lambda: len(annotator.done) == 3, 40, "a third step")
    annotator.limit, platform.most = 4, 3
    with pytest.raises(RuntimeError, match="pilot 1 is rejected: step_limit"):
        await annotator._work(socket, over)


class Platform:
    """The socket of an episode that allows so many steps."""

    most = 1000

    def __init__(self) -> None:
        self._said = asyncio.Queue[dict[str, object]]()
        self._steps = list[dict[str, object]]()

    async def send(self, text: str) -> None:
        act = json.loads(text)
        if len(self._steps) >= self.most:
            self._said.put_nowait({"type": "rejected", "code": "step_limit", "message": "no more"})
            return
        self._steps.append({"command_id": act["command_id"], "action": act["action"]})
        self._said.put_nowait({"type": "step.added", "step": self._steps[-1]})

    async def recv(self) -> str:
        if self._said.empty():
            state = {"steps": self._steps, "status": "running"}
            return json.dumps({"type": "snapshot", "control": "mine", "state": state})
        return json.dumps(await self._said.get())
