"""A web process is killed; the next one goes on at the same step, on the same machine."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import httpx
import pytest
from websockets import Origin
from websockets.sync.client import ClientConnection, connect

from annotation_app.episodes.selectors import trajectories
from annotation_app.live.store import run_in_db_thread
from annotation_app.operations.runtime.ports import free_port
from annotation_app.settings.base import ROOT
from tests.integration.web.conftest import BOUND, SECRET, Stack, database_url, session_of
from tests.integration.web.live.test_recordings import collected, finish, get, record_all
from tests.waiting import wait_until


@contextmanager
def web(port: int, environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A web process that answers."""
    command = [
        sys.executable,
        "-m",
        "daphne",
        "-b",
        "127.0.0.1",
        "-p",
        str(port),
        "annotation_app.asgi_server:application",
    ]
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **environment})
    try:
        wait_until(lambda: answers(port), limit=40)
        yield process
    finally:
        process.kill()
        process.wait(10)


def answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/api/health", trust_env=False).is_success
    except httpx.TransportError:
        return False


def until(socket: ClientConnection, **fields: Any) -> dict[str, Any]:
    """The next event with these fields."""
    while True:
        event: dict[str, Any] = json.loads(socket.recv(BOUND))
        if all(event.get(name) == value for name, value in fields.items()):
            return event


def desk(port: int, episode_id: str, session: str) -> ClientConnection:
    """The annotator's socket."""
    return connect(
        f"ws://127.0.0.1:{port}/ws/episodes/{episode_id}/",
        additional_headers={"Cookie": f"sessionid={session}"},
        origin=Origin(f"http://127.0.0.1:{port}"),
        max_size=None,
    )


def work(port: int, episode_id: str, session: str, environment: dict[str, str]) -> list[dict[str, Any]]:
    """Do one step, lose the process right after the next act was sent, and go on in a new one."""
    act = {"type": "act", "thought": "because", "action": {"kind": "click", "x": 5, "y": 6}}
    first, second = ({**act, "command_id": uuid4().hex} for _ in range(2))
    with web(port, environment) as process, desk(port, episode_id, session) as socket:
        until(socket, type="proposals.ready")
        socket.send(json.dumps(first))
        until(socket, type="step.added")
        socket.send(json.dumps(second))
        until(socket, type="step.started")
        process.send_signal(signal.SIGKILL)
        process.wait(10)
    with web(port, environment), desk(port, episode_id, session) as socket:
        snapshot = until(socket, type="snapshot")
        assert snapshot["control"] == "mine"
        socket.send(json.dumps(second))
        until(socket, type="acknowledged", command_id=second["command_id"])
        until(socket, type="proposals.ready")
        socket.send(json.dumps({**act, "command_id": uuid4().hex}))
        until(socket, type="step.added")
    return [first, second]


@pytest.mark.slow
async def test_a_killed_process_loses_nothing_and_repeats_nothing(stack: Stack, redis_url: str, settings: Any) -> None:
    await run_in_db_thread(record_all)
    episode = await stack.episode()
    session = await run_in_db_thread(session_of, user=stack.world.ada)
    environment = {
        "DJANGO_SETTINGS_MODULE": "annotation_app.settings.local",
        "PILOTHOUSE_DATABASE_URL": database_url(),
        "PILOTHOUSE_REDIS_URL": redis_url,
        "PILOTHOUSE_SECRET_KEY": settings.SECRET_KEY,
        "PILOTHOUSE_BRIDGE_MASTER_KEY": SECRET,
        "PILOTHOUSE_DATA": str(settings.ENV.data),
        "PILOTHOUSE_BRIDGE_URL": stack.bridge_url,
    }
    sent = await asyncio.to_thread(work, free_port(), str(episode.id), session, environment)
    state = await run_in_db_thread(trajectories.episode_state, episode_id=episode.id)
    assert [step.command_id for step in state.steps][:2] == [command["command_id"] for command in sent]
    assert len(state.steps) == 3
    assert [step.error for step in state.steps] == [None, None, None]
    assert [len(machine.acts) for machine in stack.host.made if machine.acts] == [3], "nothing was done twice"
    last = await stack.desk(episode)
    await last.until(type="snapshot")
    await finish(last)
    await collected()
    (part,) = (await get(stack, last, "recording")).json()["parts"]
    assert [mark["index"] for mark in part["steps"]] == [0, 1, 2], "one video, from the first step to the last"
