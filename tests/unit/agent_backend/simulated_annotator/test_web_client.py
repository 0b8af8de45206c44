"""A desk whose web process dies: the command that was under way is sent once more, when it can be heard."""

import contextlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

from agent_backend.simulated_annotator.web_client import EpisodeConnection, WebAppClient
from protocol.actions.types import Click
from protocol.messages.events import Acknowledged, Act, ControlChanged, EpisodeState, Event, Snapshot
from protocol.trajectory.tasks import Task

ACT = Act(command_id="once-and-only", action=Click(x=1, y=2), thought="on")


def state(**fields: Any) -> EpisodeState:
    task = Task(id="t", instruction="Do.")
    return EpisodeState(
        **{"id": "e", "version": 1, "status": "running", "task": task, "pool": "p", "created_at": datetime.now(UTC)}
        | fields
    )


class Socket:
    """Says these events in turn, then breaks."""

    def __init__(self, *events: Event) -> None:
        self._events = list(events)
        self.heard: list[tuple[int, str]] = []
        """What was sent to it, after how many events."""
        self.said = 0

    async def recv(self) -> str:
        if self.said == len(self._events):
            raise OSError("the process died")
        self.said += 1
        return self._events[self.said - 1].model_dump_json()

    async def send(self, text: str) -> None:
        self.heard.append((self.said, text))


class Sockets(WebAppClient):
    """Opened in this order."""

    def __init__(self, *sockets: Socket) -> None:
        self._sockets = list(sockets)

    @contextlib.asynccontextmanager
    async def socket(self, episode: str) -> AsyncIterator[Any]:
        yield self._sockets.pop(0)


async def test_the_next_process_is_told_when_it_has_control() -> None:
    first = Socket(Snapshot(state=state(), control="mine"))
    second = Socket(
        Snapshot(state=state(), control="other"),
        ControlChanged(control="mine"),
        Acknowledged(command_id="once-and-only"),
    )
    async with EpisodeConnection(Sockets(first, second), "e") as connection:
        await connection.send(ACT)
    text = ACT.model_dump_json()
    assert first.heard == [(1, text)]
    assert second.heard == [(2, text)]


async def test_of_an_episode_that_is_over_one_asks_what_became_of_it() -> None:
    first = Socket(Snapshot(state=state(), control="mine"))
    second = Socket(
        Snapshot(state=state(status="finished"), control="nobody"), Acknowledged(command_id="once-and-only")
    )
    async with EpisodeConnection(Sockets(first, second), "e") as connection:
        await connection.send(ACT)
    assert [after for after, _ in second.heard] == [1]
