"""A command of a socket without control: refused, acknowledged where it was taken before, or left without an answer."""

from unittest.mock import AsyncMock
from uuid import UUID, uuid4

import pytest
from django.db import OperationalError

from annotation_app.live import rooms as module
from annotation_app.live.rooms import EpisodeRoom, RoomRegistry, SocketConnection
from protocol.messages.events import Acknowledged, Command, Event, Pause

PAUSE = Pause(command_id="command-1", on=True)


async def events_without_control(
    monkeypatch: pytest.MonkeyPatch, *, taken: bool | Exception, steers: bool = True
) -> list[Event]:
    """What a seat without control hears of a command, where the record says that it was taken, or cannot be read."""

    async def was_taken(episode_id: UUID, command: Command) -> bool:
        if isinstance(taken, Exception):
            raise taken
        return taken

    monkeypatch.setattr(module, "is_recorded_command", was_taken)
    heard: list[Event] = []
    seat = SocketConnection("ada", steers, send_event=heard.append, refresh=lambda: None, check=AsyncMock())
    await RoomRegistry().submit(EpisodeRoom(uuid4()), seat, PAUSE)
    return heard


async def test_a_command_taken_before_is_acknowledged(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await events_without_control(monkeypatch, taken=True) == [Acknowledged(command_id="command-1")]


@pytest.mark.parametrize(("taken", "steers"), [(False, True), (True, False)])
async def test_any_other_is_refused(monkeypatch: pytest.MonkeyPatch, taken: bool, steers: bool) -> None:
    (refusal,) = await events_without_control(monkeypatch, taken=taken, steers=steers)
    assert getattr(refusal, "code", "") == "view_only"


async def test_nothing_is_said_where_the_record_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await events_without_control(monkeypatch, taken=OperationalError("the server closed the connection")) == []
