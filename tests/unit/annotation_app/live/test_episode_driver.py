"""What the driver of an episode tells its runner about people."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import cast
from unittest.mock import AsyncMock
from uuid import uuid4

import pytest

from agent_backend.interfaces import EpisodeCommand, PassControl
from annotation_app.live.assistants import Assistant
from annotation_app.live.episode_driver import EpisodeDriver
from annotation_app.live.policy_clients import PolicyClients
from annotation_app.live.store import ignore_event
from protocol.messages.events import Resample
from vm_bridge.api.client import BridgeClient


async def test_the_runner_hears_that_another_person_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    submit: Callable[..., object] = AsyncMock()
    driver = EpisodeDriver(cast(BridgeClient, SimpleNamespace()), cast(PolicyClients, SimpleNamespace()), uuid4(), 1)
    monkeypatch.setattr(driver, "runner", SimpleNamespace(submit=submit))
    rosa = Assistant("rosa", 2)
    for number, assistant in enumerate((None, rosa, rosa, None)):
        await driver.submit(Resample(command_id=f"command-{number}"), ignore_event, assistant)
    commands: list[EpisodeCommand] = [call.args[0] for call in cast(AsyncMock, submit).await_args_list]
    passed = [index for index, command in enumerate(commands) if isinstance(command, PassControl)]
    assert (passed, len(commands)) == ([1, 4], 6), "before the first command of each other person"
