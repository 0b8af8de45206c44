"""OpenEnv's socket over machines of a bridge: episodes, rewards, limits, and clients that misbehave."""

import base64

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from agent_backend.environments.openenv import metadata
from tests.integration.bridge.conftest import RunningBridge
from tests.integration.bridge.environments.conftest import (
    EnvironmentServer,
    http,
    leased_machines,
    opened,
    until_returned,
)
from tests.waiting import eventually
from vm_bridge.api.client import BridgeClient


async def test_an_episode_is_rewarded_by_its_verifier(environments: EnvironmentServer) -> None:
    async with opened(environments) as client:
        begun = await client.begin("type-hi")
        seen = begun["observation"]
        assert (begun["reward"], begun["done"], seen["instruction"]) == (None, False, "Type hi.")
        picture = base64.b64decode(seen["screenshot"]["data"])
        assert picture.startswith(b"\xff\xd8")
        typed = await client.act("type_text", text="hi")
        assert (typed["reward"], typed["done"]) == (0.0, False)
        ended = await client.act("finish")
        assert (ended["reward"], ended["done"], ended["observation"]["success"]) == (1.0, True, True)
        state = await client.send("state")
        assert (state["data"]["step_count"], state["data"]["score"]) == (2, 1.0)


async def test_an_act_after_the_end_does_nothing_and_is_not_rewarded(environments: EnvironmentServer) -> None:
    async with opened(environments) as client:
        await client.begin("type-hi")
        await client.act("type_text", text="hi")
        await client.act("finish")
        for action in ({"kind": "finish"}, {"kind": "type_text", "text": "x"}):
            refused = await client.send("step", **action)
            assert refused["data"]["reason"] == "episode_done"
        assert (await client.send("state"))["data"]["score"] == 1.0


async def test_waiting_out_the_limit_of_steps_is_no_success(environments: EnvironmentServer) -> None:
    async with opened(environments) as client:
        await client.begin("short")
        await client.act("wait", seconds=0.01)
        ended = await client.act("wait", seconds=0.01)
        assert (ended["reward"], ended["done"]) == (0.0, True)
        assert (ended["observation"]["truncated"], ended["observation"]["success"]) == (True, False)


async def test_a_task_that_nothing_judges_has_no_reward(environments: EnvironmentServer) -> None:
    async with opened(environments) as client:
        await client.begin("free")
        ended = await client.act("finish", answer="seen")
        assert (ended["reward"], ended["done"], ended["observation"]["success"]) == (None, True, None)


async def test_nothing_of_an_episode_reaches_the_next(environments: EnvironmentServer, bridge: RunningBridge) -> None:
    async with opened(environments) as client:
        await client.begin("type-hi")
        await client.act("type_text", text="hi")
        await client.begin("type-hi")
        ended = await client.act("finish")
        assert (ended["reward"], ended["observation"]["steps"]) == (0.0, 1)
    assert len(bridge.host.made) <= 3


async def test_actions_that_cannot_be_done_are_steps_that_did_nothing(environments: EnvironmentServer) -> None:
    async with opened(environments) as client:
        await client.begin("type-hi")
        off = await client.act("click", x=30_000, y=5)
        assert (off["reward"], off["observation"]["error"]["code"]) == (0.0, "invalid_action")
        nobody = await client.act("call_user", message="help")
        assert nobody["observation"]["error"]["code"] == "unsupported_action"
        assert nobody["observation"]["steps"] == 2


@pytest.mark.parametrize(
    ("message", "code", "reason"),
    [
        ("no json", "INVALID_JSON", "invalid_json"),
        ("[1]", "INVALID_JSON", "invalid_json"),
        ("[" * 100_000, "INVALID_JSON", "invalid_json"),
        ('{"type": "dance"}', "UNKNOWN_TYPE", "unknown_type"),
        ('{"type": ["step"]}', "UNKNOWN_TYPE", "unknown_type"),
        ('{"type": "step", "data": 3}', "VALIDATION_ERROR", "invalid_request"),
        ('{"type": "step", "data": {"kind": "click", "x": 1}}', "VALIDATION_ERROR", "invalid_request"),
        ('{"type": "step", "data": {"kind": "explode"}}', "VALIDATION_ERROR", "invalid_request"),
        ('{"type": "reset", "data": {"seed": "many"}}', "VALIDATION_ERROR", "invalid_request"),
        ('{"type": "reset", "data": {"seed": NaN}}', "INVALID_JSON", "invalid_json"),
        ('{"type": "reset", "data": {"task": "unknown"}}', "EXECUTION_ERROR", "unknown_task"),
        ('{"type": "step", "data": {"type": "call_tool", "tool_name": "rm"}}', "EXECUTION_ERROR", "unknown_tool"),
    ],
)
async def test_bad_messages_change_nothing(
    environments: EnvironmentServer, message: str, code: str, reason: str
) -> None:
    async with opened(environments) as client:
        before = await client.begin("type-hi")
        await client.socket.send(message)
        refused = await client.receive()
        assert (refused["type"], refused["data"]["code"], refused["data"]["reason"]) == ("error", code, reason)
        assert (await client.send("state"))["data"]["step_count"] == before["observation"]["steps"]
        await client.act("type_text", text="hi")
        assert (await client.act("finish"))["reward"] == 1.0


async def test_a_step_before_the_first_reset_is_refused(environments: EnvironmentServer) -> None:
    async with opened(environments) as client:
        assert (await client.send("step", kind="finish"))["data"]["reason"] == "no_episode"


async def test_more_clients_than_sessions_are_told_and_closed(environments: EnvironmentServer) -> None:
    async with opened(environments), opened(environments), opened(environments) as third:
        assert (await third.receive())["data"]["code"] == "CAPACITY_REACHED"
        await third.socket.wait_closed()
    await eventually(lambda: environments.sessions.active == 0)
    async with opened(environments) as client:
        await client.begin("free")


async def test_a_client_that_vanishes_in_the_middle_of_a_step_gives_its_machine_back(
    environments: EnvironmentServer, client: BridgeClient, bridge: RunningBridge
) -> None:
    async with opened(environments) as player:
        await player.begin("free")
        assert await leased_machines(client) == 1
        for sandbox in bridge.host.made:
            sandbox.settle_seconds = 600
        await player.socket.send('{"type": "step", "data": {"kind": "type_text", "text": "x"}}')
        await eventually(lambda: any(sandbox.acts for sandbox in bridge.host.made))
        player.socket.transport.abort()
    await eventually(lambda: environments.sessions.active == 0)
    await until_returned(client)


class TestIdle:
    @pytest.fixture
    def idle_seconds(self) -> float:
        return 0.3

    async def test_a_client_that_never_closes_loses_its_session_and_no_reward_is_given(
        self, environments: EnvironmentServer, client: BridgeClient, bridge: RunningBridge
    ) -> None:
        async with opened(environments) as player:
            await player.begin("type-hi")
            ended = await player.receive()
            assert (ended["data"]["code"], ended["data"]["reason"]) == ("SESSION_ERROR", "session_idle")
            await player.socket.wait_closed()
        await eventually(lambda: environments.sessions.active == 0)
        await until_returned(client)


async def test_a_lost_machine_is_no_failure_and_the_next_reset_has_another(
    environments: EnvironmentServer, bridge: RunningBridge
) -> None:
    async with opened(environments) as client:
        await client.begin("type-hi")
        for sandbox in bridge.host.made:
            await sandbox.destroy()
        lost = await client.send("step", kind="type_text", text="hi")
        assert lost["type"] == "error"
        assert "episode is lost" in lost["data"]["message"]
        assert (await client.send("step", kind="finish"))["data"]["reason"] == "episode_lost"
        await client.begin("type-hi")
        await client.act("type_text", text="hi")
        assert (await client.act("finish"))["reward"] == 1.0


async def test_messages_of_one_socket_are_answered_in_their_order(environments: EnvironmentServer) -> None:
    async with opened(environments) as client:
        await client.begin("type-hi")
        await client.socket.send('{"type": "step", "data": {"kind": "type_text", "text": "hi"}}')
        await client.socket.send('{"type": "reset", "data": {"task": "answer-no"}}')
        assert (await client.receive())["data"]["observation"]["task"] == "type-hi"
        assert (await client.receive())["data"]["observation"]["task"] == "answer-no"


async def test_only_a_token_opens_the_server(environments: EnvironmentServer) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic ???"}):
        with pytest.raises(InvalidStatus):
            async with connect(f"{environments.url.replace('http', 'ws')}/ws", additional_headers=headers, proxy=None):
                pass
    async with httpx.AsyncClient(base_url=environments.url, trust_env=False) as anybody:
        assert (await anybody.get("/health")).status_code == 200
        for route in ("/metadata", "/schema", "/openenv.yaml", "/list_environments", "/pilothouse/splits"):
            assert (await anybody.get(route)).status_code == 401
        for route in ("/reset", "/step", "/mcp", "/pilothouse/tasks", "/pilothouse/num_tasks"):
            assert (await anybody.post(route, json={})).status_code == 401


async def test_descriptions_name_sessions_schemas_and_tasks(environments: EnvironmentServer) -> None:
    async with http(environments) as client:
        assert (await client.get("/metadata")).json() == metadata(2)
        assert {"action", "observation", "state"} == set((await client.get("/schema")).json())
        assert "spec_version: 1" in (await client.get("/openenv.yaml")).text
        assert (await client.get("/list_environments")).json() == ["pilothouse"]
        assert (await client.post("/pilothouse/num_tasks", json={"split": "all"})).json() == {"num_tasks": 4}
        tasks = (await client.post("/pilothouse/tasks", json={"split": "all"})).json()["tasks"]
        assert tasks[0]["id"] == "type-hi"
        assert "parameters" not in tasks[0]
        refused = await client.post("/step", json={})
        assert (refused.status_code, refused.json()["code"]) == (409, "session_required")
