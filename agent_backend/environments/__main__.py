"""Serves machines as an OpenEnv environment and as MCP tools: `./pilothouse openenv`.

    ./pilothouse openenv --suite games --level all --sessions 8
    ./pilothouse openenv --tasks my-tasks/ --max-steps 50 --listen 0.0.0.0:8030

Clients send a token as `Authorization: Bearer TOKEN`. PILOTHOUSE_OPENENV_TOKEN sets the token. If it is not set, the
command creates a token and prints it.
"""

import argparse
import asyncio
import contextlib
import os
import secrets
import sys
from collections.abc import Sequence

import httpx
import uvicorn

from agent_backend.environments.access import AccountAccess, TokenAccess
from agent_backend.environments.openenv import manifest
from agent_backend.environments.server import MAX_BODY_BYTES, create_app
from agent_backend.environments.session import DEFAULT_MACHINE_WAIT_SECONDS
from agent_backend.environments.sessions import DEFAULT_IDLE_SECONDS, SessionRegistry
from agent_backend.environments.task_catalog import TaskCatalog
from agent_backend.errors import AgentError
from agent_backend.rollout.in_process import bridge_client
from agent_backend.rollout.options import add_expert_task_options, build_plan, check_options
from agent_backend.rollout.pool_tasks import web_app_url
from vm_bridge.errors import BridgeError

MAX_SESSIONS = 1_000
SHUTDOWN_GRACE_SECONDS = 3


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line. Exits if something is missing."""
    parser = argparse.ArgumentParser(
        prog="./pilothouse openenv", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_expert_task_options(parser)
    server = parser.add_argument_group("server")
    server.add_argument("--listen", type=_address, default=("127.0.0.1", 8030), help="HOST:PORT (127.0.0.1:8030)")
    server.add_argument("--sessions", type=int, default=4, help="most sessions at a time, each with a machine (4)")
    server.add_argument(
        "--idle-seconds",
        type=float,
        default=DEFAULT_IDLE_SECONDS,
        help="a session without a reset or step for so long ends (600)",
    )
    server.add_argument(
        "--machine-wait-seconds",
        type=float,
        default=DEFAULT_MACHINE_WAIT_SECONDS,
        help="longest wait of a reset for a free machine (50)",
    )
    server.add_argument(
        "--accounts",
        action="store_true",
        help="also take API tokens of the web app at PILOTHOUSE_URL with the scope environments:write",
    )
    server.add_argument("--print-manifest", action="store_true", help="print openenv.yaml, and start nothing")
    parser.set_defaults(bridge=os.environ.get("PILOTHOUSE_BRIDGE_URL"))
    arguments = parser.parse_args(argv)
    if not arguments.print_manifest:
        check_options(parser, arguments)
    if not 1 <= arguments.sessions <= MAX_SESSIONS:
        parser.error(f"--sessions is 1 to {MAX_SESSIONS}")
    if arguments.idle_seconds <= 0 or arguments.machine_wait_seconds <= 0:
        parser.error("times are more than 0 seconds")
    return arguments


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65_535:
        raise argparse.ArgumentTypeError(f"{text} is no address like 127.0.0.1:8030")
    return host, int(port)


async def serve(arguments: argparse.Namespace, token: str) -> None:
    """Serve until the process receives a signal to stop. Raises AgentError, BridgeError if the tasks cannot be read."""
    bridge = bridge_client(arguments)
    catalog = TaskCatalog(build_plan(arguments), bridge)
    sessions = SessionRegistry(
        bridge,
        catalog,
        max_sessions=arguments.sessions,
        idle_seconds=arguments.idle_seconds,
        machine_wait_seconds=arguments.machine_wait_seconds,
    )
    async with bridge, httpx.AsyncClient(base_url=web_app_url(), trust_env=False) as web_app:
        access = TokenAccess(token, AccountAccess(web_app) if arguments.accounts else None)
        count = len(await catalog.tasks())
        host, port = arguments.listen
        app = create_app(sessions, access, port=port, resources=contextlib.nullcontext())
        config = uvicorn.Config(
            app,
            host=host,
            port=port,
            ws="websockets-sansio",
            ws_max_size=MAX_BODY_BYTES,
            log_level="warning",
            timeout_graceful_shutdown=SHUTDOWN_GRACE_SECONDS,
        )
        print(f"{count} tasks, {arguments.sessions} sessions at http://{host}:{port}", flush=True)
        await uvicorn.Server(config).serve()


def main(argv: Sequence[str] | None = None) -> int:
    """Serve. Returns 1 if the tasks cannot be read."""
    arguments = parse_arguments(argv)
    if arguments.print_manifest:
        print(manifest(arguments.listen[1], arguments.idle_seconds), end="")
        return 0
    token = os.environ.get("PILOTHOUSE_OPENENV_TOKEN", "")
    if not token:
        token = secrets.token_urlsafe(32)
        print(f"token: {token}", flush=True)
    try:
        asyncio.run(serve(arguments, token))
    except (AgentError, BridgeError) as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
