"""MCP servers of a pool from the desk and from unattended runs: one beside a real machine, one inside it."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from agent_backend.episode.limits import RunnerLimits
from agent_backend.episode.unattended_secrets import SecretMissing, check_task_secrets
from agent_backend.policy.expert import ExpertPolicy
from agent_backend.rollout.attempts import run_attempt
from annotation_app.accounts.services import user_ensure
from annotation_app.episodes.models import Episode
from annotation_app.episodes.selectors.trajectories import episode_state
from annotation_app.episodes.services import episode_next
from annotation_app.live.rooms import registry
from annotation_app.live.store import run_in_db_thread
from annotation_app.pools import selectors, services
from annotation_app.pools.schemas import HttpServer, StdioServer
from annotation_app.tasks.models import Pool
from annotation_app.tasks.services import pool_ensure, tasks_add
from protocol.actions.types import Action, CallTool, Finish
from protocol.trajectory.proposals import PolicyRef
from protocol.trajectory.tasks import Task
from tests.integration.web.conftest import (
    PASSWORD,
    Stack,
    World,
    connections_close,
    serving,
)
from tests.waiting import eventually
from vm_bridge.__main__ import create_bridge_app
from vm_bridge.api.client import BridgeClient
from vm_bridge.config import Config
from vm_bridge.host_keys import MANAGER, derive_key
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.images.tools import INSTALLED_FOLDER, prepare_tools
from vm_bridge.machine import ExpertSuggestion, Machine
from vm_bridge.network.egress_proxy import EgressProxy

pytestmark = pytest.mark.django_db(transaction=True)

OUTSIDE, HOST, KEY = "127.0.0.2", "tests", "a master key of these tests"
VALUE = "hunter2-hunter2"
BESIDE = """
import sys
from mcp.server import MCPServer
from mcp.server.mcpserver import Context

server = MCPServer("calc")

@server.tool()
def double(number: int, context: Context) -> str:
    return f"{2 * number} for {context.request_context.request.headers['x-team']}"

server.run("streamable-http", host=sys.argv[1], port=int(sys.argv[2]))
"""
INSIDE = """
import os
from mcp.server import MCPServer

server = MCPServer("vault")

@server.tool()
def reveal() -> str:
    return "it is " + os.environ["VAULT_TOKEN"]

server.run()
"""
VAULT = StdioServer(
    transport="stdio",
    command="/image/tools/bin/python",
    args=("-c", INSIDE),
    env={"VAULT_TOKEN": "secret:VAULT"},
)


@dataclass(frozen=True, slots=True)
class Machines:
    """A bridge of real machines, and the address of the server beside them."""

    bridge_url: str
    calc: HttpServer


@pytest.fixture
async def machines(bridge_redis: str, data: Path, settings: Any) -> AsyncIterator[Machines]:
    python = str(prepare_tools(INSTALLED_FOLDER) / "bin" / "python")
    port = _free_port()
    server = await asyncio.create_subprocess_exec(python, "-c", BESIDE, OUTSIDE, str(port), stdout=sys.stderr)

    async def resolve(host: str, port: int) -> list[str]:
        return [OUTSIDE]

    egress = partial(EgressProxy, resolver=resolve, public=lambda address: address == OUTSIDE)
    host = LocalHost(data, make_egress=egress)

    def bridge_at(url: str) -> Any:
        config = Config(
            bridge_keys=tuple((name, derive_key(KEY, name)) for name in (MANAGER, HOST)),
            host_id=HOST,
            redis_url=bridge_redis,
            bridge_url=url,
            web_origins=(url,),
            data=data,
        )
        return create_bridge_app(config, host)

    try:
        await eventually(partial(_listens, port))
        async with serving(bridge_at) as bridge_url:
            settings.ENV = settings.ENV.model_copy(update={"bridge_url": bridge_url, "bridge_master_key": KEY})
            url = f"http://mcp.example.test:{port}/mcp"
            yield Machines(bridge_url, HttpServer(transport="http", url=url, headers={"X-Team": "blue"}))
            await registry.close()
            await connections_close()
    finally:
        server.terminate()
        await server.wait()


def _free_port() -> int:
    with socket.create_server((OUTSIDE, 0)) as server:
        port: int = server.getsockname()[1]
        return port


def _listens(port: int) -> bool:
    try:
        socket.create_connection((OUTSIDE, port), timeout=1).close()
    except OSError:
        return False
    return True


def pool_with_servers(world: World, calc: HttpServer) -> Pool:
    admin = user_ensure(username="alex", password=PASSWORD, name="Alex", roles=["admin"])
    pool = pool_ensure(
        name="tools", members=[world.ada], platform="terminal", image="terminal", thought_required=False, record=False
    )
    tasks_add(pool=pool, definitions=[Task(id="t", instruction="Use the tools.", platform="terminal")])
    rules = {"kinds": ("mcp_server",)}
    services.credential_set(user=admin, pool_id=pool.pk, name="VAULT", value=VALUE, rules=rules)
    services.mcp_server_set(user=admin, pool_id=pool.pk, name="calc", server=calc)
    services.mcp_server_set(user=admin, pool_id=pool.pk, name="vault", server=VAULT)
    return pool


def call(name: str, place: int, **arguments: Any) -> dict[str, Any]:
    action = CallTool(name=name, arguments=arguments).model_dump(mode="json")
    return {"type": "act", "command_id": f"call-{place:08d}", "thought": "", "action": action}


async def test_the_desk_calls_servers_of_its_pool_and_shows_no_secret(committed: World, machines: Machines) -> None:
    pool = await run_in_db_thread(partial(pool_with_servers, committed, machines.calc))
    stack = Stack(committed, machines.bridge_url, "", cast(Any, None), [])
    episode = await run_in_db_thread(partial(_claim, committed, pool))
    desk = await stack.desk(episode)
    await desk.until(type="episode.changed", status="running")
    state = await run_in_db_thread(episode_state, episode_id=episode.pk)
    assert {"calc.double", "vault.reveal"} <= {tool.name for tool in state.tools}
    assert VALUE not in state.model_dump_json()

    assert (await desk.ask(**call("calc.double", 1, number=21)))["type"] == "acknowledged"
    assert (await desk.until(type="step.added"))["step"]["after"]["text"] == "42 for blue"
    assert (await desk.ask(**call("vault.reveal", 2)))["type"] == "acknowledged"
    assert (await desk.until(type="step.added"))["step"]["after"]["text"] == "it is secret:VAULT"
    await desk.ask(type="leave", command_id="leave-00001", how="release")
    await desk.close()

    admin = await run_in_db_thread(
        partial(user_ensure, username="alex", password=PASSWORD, name="Alex", roles=["admin"])
    )
    attempt = partial(services.mcp_server_try, user=admin, pool_id=pool.pk)
    works = await run_in_db_thread(partial(attempt, name="vault", server=VAULT))
    assert (works.outcome, [tool.name for tool in works.tools]) == ("works", ["reveal"])
    broken = VAULT.model_copy(update={"command": "/no/such/program"})
    failed = await run_in_db_thread(partial(attempt, name="vault", server=broken))
    assert failed.outcome == "failed"
    assert "vault did not start" in failed.reason


def _claim(world: World, pool: Pool) -> Episode:
    episode = episode_next(user=world.ada, pool_id=pool.pk)
    assert episode is not None
    return episode


async def test_an_unattended_run_calls_them_with_secrets_of_its_environment(
    committed: World, machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    await run_in_db_thread(partial(pool_with_servers, committed, machines.calc))
    admin = await run_in_db_thread(
        partial(user_ensure, username="alex", password=PASSWORD, name="Alex", roles=["admin"])
    )
    (task,) = (await run_in_db_thread(partial(selectors.task_definitions, user=admin, name="tools"))).items
    with pytest.raises(SecretMissing, match="PILOTHOUSE_POOL_SECRET_VAULT"):
        check_task_secrets((task,))
    monkeypatch.setenv("PILOTHOUSE_POOL_SECRET_VAULT", VALUE)
    actions: Iterator[Action] = iter(
        (CallTool(name="calc.double", arguments={"number": 4}), CallTool(name="vault.reveal", arguments={}), Finish())
    )

    async def suggest() -> ExpertSuggestion:
        return ExpertSuggestion(thought="So it goes.", action=next(actions))

    def policy(_: Machine) -> ExpertPolicy:
        return ExpertPolicy(PolicyRef(name="p", revision="1", dialect="ui_tars_1_5"), suggest)

    async with BridgeClient(machines.bridge_url, KEY) as bridge:
        result = await run_attempt(bridge, "terminal", task, policy, RunnerLimits())
    assert result.trajectory is not None, result.error
    said = [step.after.text for step in result.trajectory.steps[:2] if step.after is not None]
    assert said == ["8 for blue", "it is secret:VAULT"]
    assert {"calc.double", "vault.reveal"} <= {tool.name for tool in result.trajectory.tools}
    assert VALUE not in result.trajectory.model_dump_json()
