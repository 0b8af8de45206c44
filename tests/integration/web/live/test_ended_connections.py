"""A database connection that ends in a commit of an act: the act is done once, and its desk hears of it."""

import threading
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.db import OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper

from annotation_app.episodes import services
from annotation_app.episodes.selectors import trajectories
from annotation_app.live import rooms
from annotation_app.live.store import run_in_db_thread
from tests.integration.web.conftest import EpisodeSocket, Stack

WRITES = ("act_begin", "step_append", "proposals_add")


class CommitFault(threading.local):
    """Ends this thread's connection at its next commit; `stored` says whether the database still commits."""

    stored: bool | None = None

    def __init__(self, commit: Callable[[BaseDatabaseWrapper], None]) -> None:
        self._commit = commit

    def commit(self, connection: BaseDatabaseWrapper) -> None:
        stored, self.stored = self.stored, None
        if stored is None:
            return self._commit(connection)
        if stored:
            self._commit(connection)
        connection.connection.close()
        raise OperationalError("server closed the connection unexpectedly")

    def once(self, service: Callable[..., Any], *, stored: bool) -> Callable[..., Any]:
        """A service whose first call loses its connection."""
        calls = iter((stored,))

        def call(**given: Any) -> Any:
            self.stored = next(calls, None)
            return service(**given)

        return call


async def act_until_known(desk: EpisodeSocket) -> str:
    """Act as a page does: the command is sent again when control comes back, until a step of it is known."""
    name = uuid4().hex
    command: dict[str, Any] = {"command_id": name, "thought": "w", "action": {"kind": "click", "x": 5, "y": 6}}
    await desk.send(type="act", **command)
    while True:
        event = await desk.hear()
        match event["type"]:
            case "step.added" if event["step"]["command_id"] == name:
                break
            case "snapshot" if name in [step["command_id"] for step in event["state"]["steps"]]:
                break
            case "control.changed" if event["control"] == "mine":
                await desk.send(type="act", **command)
    return name


@pytest.mark.parametrize("stored", [False, True], ids=["nothing is stored", "the answer is lost"])
async def test_an_act_whose_connection_ends_is_done_once_and_heard_of(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, stored: bool
) -> None:
    monkeypatch.setattr(rooms, "HEARTBEAT_SECONDS", 0.05)
    fault = CommitFault(BaseDatabaseWrapper._commit)  # type: ignore[attr-defined]
    monkeypatch.setattr(BaseDatabaseWrapper, "_commit", lambda connection: fault.commit(connection))
    desk = await stack.deciding()
    sent = []
    for name in WRITES:
        monkeypatch.setattr(services, name, fault.once(getattr(services, name), stored=stored))
        sent.append(await act_until_known(desk))
    state = await run_in_db_thread(trajectories.episode_state, episode_id=desk.episode_id)
    assert [step.command_id for step in state.steps] == sent
    assert [step.error for step in state.steps] == [None] * len(sent)
    assert [len(machine.acts) for machine in stack.host.made if machine.acts] == [len(sent)]
