"""Hearing what happens in an episode, inside one process."""

import asyncio
from typing import Any

import pytest

from annotation_app.episodes.services import events
from annotation_app.live.rooms import process_is_dead
from protocol.messages.events import Pong, ProposalsThinking
from tests.waiting import eventually


@pytest.fixture
def received() -> list[tuple[str, int | None]]:
    """What a listener to episode `e1` hears."""
    return []


async def test_only_its_own_episode_is_heard(received: list[Any]) -> None:
    with events.subscription("e1", lambda text, version: received.append((text, version))):
        await events.publish_live("e2", ProposalsThinking(thinking="waiting"))
        await events.publish_live("e1", Pong(at=1.0, version=3))
        await eventually(lambda: received)
    assert [version for _, version in received] == [3]
    assert Pong.model_validate_json(received[0][0]).at == 1.0


async def test_nothing_is_heard_afterwards(received: list[Any]) -> None:
    with events.subscription("e1", lambda text, version: received.append(text)):
        pass
    await events.publish_live("e1", Pong(at=1.0, version=3))
    await asyncio.sleep(0)
    assert received == []


def test_this_process_is_alive() -> None:
    host, pid, _ = events.PROCESS_ID.rsplit(":", 2)
    assert process_is_dead(f"{host}:{pid}:an-earlier-start"), "its number was given out again"
    assert process_is_dead(f"{host}:{2**22 + 1}:x")
    assert not process_is_dead("another-host:1:x")
    assert not process_is_dead(f"{host}:1:x"), "not ours to signal, or alive"
