"""The machine's actions as MCP tools over streamable HTTP, alone and beside OpenEnv's socket."""

import asyncio
from typing import Any

import httpx

from tests.integration.bridge.conftest import RunningBridge
from tests.integration.bridge.environments.conftest import EnvironmentServer, http, opened
from tests.waiting import eventually


async def call(client: httpx.AsyncClient, method: str, session: str = "", **params: Any) -> dict[str, Any]:
    headers = {"Mcp-Session-Id": session} if session else {}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    answer: dict[str, Any] = (await client.post("/mcp", json=body, headers=headers)).json()
    return answer


async def open_session(client: httpx.AsyncClient) -> str:
    created = await call(client, "openenv/session/create")
    session: str = created["result"]["session_id"]
    return session


async def test_a_task_is_begun_acted_on_and_judged_by_tools(environments: EnvironmentServer) -> None:
    async with http(environments) as client:
        body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
        session = (await client.post("/mcp", json=body)).headers["mcp-session-id"]
        accepted = await client.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert accepted.status_code == 202
        begun = (await call(client, "tools/call", session, name="start_task", arguments={"task": "type-hi"}))["result"]
        assert [part["type"] for part in begun["content"]] == ["text", "image"]
        assert begun["structuredContent"]["observation"]["instruction"] == "Type hi."
        tools = (await call(client, "tools/list", session))["result"]["tools"]
        names = {tool["name"] for tool in tools}
        assert {"start_task", "click", "type_text", "finish"} <= names
        assert not names & {"reset", "step", "state", "close", "call_user"}
        schema = next(tool["inputSchema"] for tool in tools if tool["name"] == "type_text")
        assert (set(schema["properties"]), schema["required"]) == ({"text"}, ["text"])
        await call(client, "tools/call", session, name="type_text", arguments={"text": "hi"})
        ended = (await call(client, "tools/call", session, name="finish"))["result"]["structuredContent"]
        assert (ended["reward"], ended["done"]) == (1.0, True)
        assert (await client.delete("/mcp", headers={"Mcp-Session-Id": session})).status_code == 204
        assert environments.sessions.active == 0


async def test_a_reset_in_the_middle_of_a_step_is_refused(
    environments: EnvironmentServer, bridge: RunningBridge
) -> None:
    async with http(environments) as client:
        session = await open_session(client)
        async with opened(environments, f"?session_id={session}") as socket:
            await socket.begin("type-hi")
            for sandbox in bridge.host.made:
                sandbox.settle_seconds = 600
            step = asyncio.create_task(socket.act("type_text", text="hi"))
            await eventually(lambda: any(sandbox.acts for sandbox in bridge.host.made))
            refused = await call(client, "tools/call", session, name="start_task", arguments={"task": "answer-no"})
            assert refused["error"]["data"]["reason"] == "session_busy"
            for sandbox in bridge.host.made:
                sandbox.skip_settle()
            assert (await step)["observation"]["task"] == "type-hi"
            assert (await socket.send("state"))["data"]["task"] == "type-hi"


async def test_two_sockets_cannot_use_one_session(environments: EnvironmentServer) -> None:
    async with http(environments) as client:
        session = await open_session(client)
        async with opened(environments, f"?session_id={session}") as first:
            async with opened(environments, f"?session_id={session}") as second:
                assert (await second.receive())["data"]["reason"] == "session_attached"
            refused = await call(client, "openenv/session/close", session_id=session)
            assert refused["error"]["data"]["reason"] == "session_attached"
            await first.begin("type-hi")
        closed = await call(client, "openenv/session/close", session_id=session)
        assert closed["result"]["closed"] is True


async def test_unknown_sessions_and_bad_bodies_have_codes(environments: EnvironmentServer) -> None:
    async with http(environments) as client:
        unknown = await client.post(
            "/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, headers={"Mcp-Session-Id": "none"}
        )
        assert (unknown.status_code, unknown.json()["error"]["data"]["reason"]) == (404, "unknown_session")
        for body, code in ((b"no json", -32700), (b"[]", -32600), (b'{"id": 1}', -32600)):
            refused = await client.post("/mcp", content=body)
            assert (refused.status_code, refused.json()["error"]["code"]) == (400, code)
        assert (await client.post("/mcp", content=b"x" * (5 * 2**20))).status_code == 413
        session = await open_session(client)
        assert (await call(client, "prompts/list", session))["error"]["code"] == -32601
        strange = await call(client, "tools/call", session, name="click", arguments=[1])
        assert strange["error"]["data"]["reason"] == "invalid_request"
