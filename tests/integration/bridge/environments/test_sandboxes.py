"""Sandboxes over HTTP: leased under the client's name, bounded with the sessions, and given back however they end."""

import uuid

import httpx
import pytest

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

DESKTOP = {"image": "desktop"}


def name() -> str:
    return f"/pilothouse/sandboxes/{uuid.uuid4().hex}"


async def test_a_sandbox_is_leased_once_and_given_back(environments: EnvironmentServer, client: BridgeClient) -> None:
    path = name()
    async with http(environments) as program:
        for _ in range(2):
            made = await program.put(path, json=DESKTOP)
            assert (made.status_code, made.json()["image"]) == (200, "desktop")
        assert await leased_machines(client) == 1
        for _ in range(2):
            assert (await program.delete(path)).status_code == 204
        refused = await program.post(f"{path}/execute", json={"argv": ["true"]})
        assert (refused.status_code, refused.json()["code"]) == (404, "unknown_session")
    await until_returned(client)


async def test_sandboxes_and_sessions_are_counted_together(
    environments: EnvironmentServer, client: BridgeClient
) -> None:
    paths = [name(), name()]
    async with http(environments) as program, opened(environments) as player:
        await player.begin("free")
        assert (await program.put(paths[0], json=DESKTOP)).is_success
        refused = await program.put(paths[1], json=DESKTOP)
        assert (refused.status_code, refused.json()["code"]) == (503, "capacity_reached")
        await program.delete(paths[0])
        assert (await program.put(paths[1], json=DESKTOP)).is_success
        await program.delete(paths[1])
    await until_returned(client)


async def test_a_lost_machine_is_told_and_counts_no_more_once_it_is_ended(
    environments: EnvironmentServer, bridge: RunningBridge
) -> None:
    path = name()
    async with http(environments) as program:
        await program.put(path, json=DESKTOP)
        for sandbox in bridge.host.made:
            await sandbox.destroy()
        lost = await program.put(f"{path}/files", params={"path": "a.txt"}, content=b"x")
        assert (lost.status_code, lost.json()["code"]) == (409, "machine_gone")
        assert (await program.post(f"{path}/execute", json={"argv": ["true"]})).json()["code"] == "session_closed"
        await program.delete(path)
        assert environments.sessions.active == 0


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"argv": []}, "argv"),
        ({"argv": ["a\0b"]}, "argv.0"),
        ({"argv": ["true"], "env": {"A=B": "x"}}, "env"),
        ({"argv": ["true"], "timeout_seconds": 601}, "timeout_seconds"),
        ({"argv": ["true"], "stdin": "no base64!"}, "stdin"),
        ({"argv": ["true"], "user": "root"}, "user"),
    ],
)
async def test_bad_commands_are_refused_by_their_field(
    environments: EnvironmentServer, bridge: RunningBridge, body: object, reason: str
) -> None:
    path = name()
    async with http(environments) as program:
        await program.put(path, json=DESKTOP)
        acts = [list(sandbox.acts) for sandbox in bridge.host.made]
        refused = await program.post(f"{path}/execute", json=body)
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_request")
        assert reason in refused.json()["message"]
        assert [list(sandbox.acts) for sandbox in bridge.host.made] == acts
        await program.delete(path)


async def test_images_names_and_tokens_that_are_not_there(environments: EnvironmentServer) -> None:
    async with http(environments) as program:
        unknown = await program.put(name(), json={"image": "absent"})
        assert not unknown.is_success
        assert unknown.json()["code"]
        assert (await program.put("/pilothouse/sandboxes/short", json=DESKTOP)).status_code == 422
        assert (await program.put(name(), content=b"no json")).json()["code"] == "invalid_request"
        assert environments.sessions.active == 0
    async with httpx.AsyncClient(base_url=environments.url, trust_env=False) as anybody:
        for method, end in (("PUT", ""), ("DELETE", ""), ("POST", "/execute"), ("GET", "/files?path=a")):
            assert (await anybody.request(method, f"{name()}{end}")).status_code == 401


class TestIdle:
    @pytest.fixture
    def idle_seconds(self) -> float:
        return 0.3

    async def test_a_program_that_never_ends_its_sandbox_loses_it(
        self, environments: EnvironmentServer, client: BridgeClient
    ) -> None:
        async with http(environments) as program:
            assert (await program.put(name(), json=DESKTOP)).is_success
        await eventually(lambda: environments.sessions.active == 0)
        await until_returned(client)
