"""The environment of TRL over the server: rewards add up, calls that are no actions, ends, and lost episodes."""

import asyncio
import importlib
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from annotation_app.operations.runtime.stack import ROOT
from tests.integration.bridge.environments.conftest import TOKEN, EnvironmentServer

Value = TypeVar("Value")


@pytest.fixture
def trl(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The package, as TRL's process imports it."""
    monkeypatch.setattr(sys, "path", [str(ROOT / "clients" / "trl_pilothouse"), *sys.path])
    monkeypatch.setenv("PILOTHOUSE_OPENENV_TOKEN", TOKEN)
    return importlib.import_module("pilothouse_trl")


async def in_thread(call: Callable[..., Value], *given: Any, **named: Any) -> Value:
    return await asyncio.to_thread(call, *given, **named)


async def test_an_episode_is_played_by_tools_and_rewarded(trl: Any, environments: EnvironmentServer) -> None:
    rows = await in_thread(trl.task_rows, environments.url)
    assert {row["task"] for row in rows} == {"type-hi", "answer-no", "short", "free"}
    one = trl.environment_factory(environments.url)()
    assert "Type hi." in await in_thread(one.reset, **rows[0])
    picture, text = await in_thread(one.type_text, "hi")
    assert (picture["type"], text["type"]) == ("image", "text")
    assert picture["image"].size[0] > 0
    assert "has ended" in (await in_thread(one.finish))[-1]["text"]
    assert await in_thread(one.click, 1, 1) == "The episode has ended."
    assert await in_thread(one.get_reward) == 1.0
    assert "Say no." in await in_thread(one.reset, task="answer-no")
    assert await in_thread(one.get_reward) == 0.0, "an episode that goes on is judged as it stands"
    await in_thread(one._close)
    assert environments.sessions.active == 0


async def test_calls_that_are_no_actions_are_the_policys(trl: Any, environments: EnvironmentServer) -> None:
    one = trl.environment_factory(environments.url, pictures=False)()
    await in_thread(one.reset, task="type-hi")
    assert "no action" in await in_thread(one.scroll, "sideways")
    assert "Step 1 of" in await in_thread(one.type_text, "hi")
    assert await in_thread(one.get_reward) == 1.0
    await in_thread(one._close)


async def test_a_lost_episode_has_no_reward_and_the_next_reset_begins_another(
    trl: Any, environments: EnvironmentServer
) -> None:
    one = trl.environment_factory(environments.url, pictures=False)()
    await in_thread(one.reset, task="type-hi")
    for session in tuple(environments.sessions._sessions.values()):
        await environments.sessions.close(session)
    with pytest.raises(trl.ServerError):
        await in_thread(one.type_text, "hi")
    assert await in_thread(one.get_reward) is None
    assert "Type hi." in await in_thread(one.reset, task="type-hi")
    assert await in_thread(one.get_reward) == 0.0
    await in_thread(one._close)
