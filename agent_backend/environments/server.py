"""The server: OpenEnv's routes and socket, MCP over streamable HTTP, and sandboxes.

Every route but `/health` requires a token.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request, Response, WebSocket
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.exceptions import HTTPException
from starlette.websockets import WebSocketDisconnect

from agent_backend.environments.access import TokenAccess
from agent_backend.environments.errors import EnvironmentRefusal
from agent_backend.environments.mcp import (
    INVALID_REQUEST,
    PARSE_ERROR,
    SERVER_ERROR,
    answer_rpc,
    initialize_result,
    rpc_error,
    rpc_result,
)
from agent_backend.environments.openenv import NAME, answer_message, error_reply, manifest, metadata, schemas
from agent_backend.environments.sandbox_routes import add_sandboxes
from agent_backend.environments.session import EnvironmentSession
from agent_backend.environments.sessions import SessionRegistry
from protocol.base import find_json_error

SESSION_HEADER = "mcp-session-id"
MAX_BODY_BYTES = 4 * 2**20
MAX_QUEUED_MESSAGES = 8
"""How many messages of a socket may queue behind the one that is being answered."""
POLICY_VIOLATION = 1008


def create_app(
    sessions: SessionRegistry, access: TokenAccess, *, port: int, resources: AbstractAsyncContextManager[Any]
) -> FastAPI:
    """The ASGI application; `resources` are open while it runs."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with resources, sessions.running():
            yield

    app = FastAPI(title="Pilothouse environments", version="1", lifespan=lifespan, docs_url=None, redoc_url=None)

    async def authorised(request: Request) -> str:
        principal = await access.principal(request.headers)
        if principal is None:
            raise HTTPException(401, "a token is missing or not valid", {"WWW-Authenticate": "Bearer"})
        return principal

    @app.get("/health")
    async def health() -> dict[str, str]:
        """Whether the server answers."""
        return {"status": "healthy"}

    _add_descriptions(app, authorised, sessions, port)
    _add_tasks(app, authorised, sessions)
    _add_mcp(app, authorised, sessions)
    add_sandboxes(app, authorised, sessions, _read_body)

    @app.websocket("/ws")
    async def socket(websocket: WebSocket, session_id: str | None = None) -> None:
        """OpenEnv's socket: a new session, or the MCP session that `session_id` names."""
        principal = await access.principal(websocket.headers)
        if principal is None:
            await websocket.close(POLICY_VIOLATION)
            return
        await websocket.accept()
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            try:
                async with sessions.attach(session_id, principal) as session:
                    await _converse(websocket, session, sessions.idle_seconds)
            except EnvironmentRefusal as refusal:
                await websocket.send_json(error_reply(refusal))
            await websocket.close()

    return app


Authorised = Callable[[Request], Any]


def _add_descriptions(app: FastAPI, authorised: Authorised, sessions: SessionRegistry, port: int) -> None:
    @app.get("/metadata")
    async def describe(request: Request) -> dict[str, Any]:
        """What the environment is, and how many sessions it has at a time."""
        await authorised(request)
        return metadata(sessions.max_sessions)

    @app.get("/schema")
    async def schema(request: Request) -> dict[str, Any]:
        """The JSON Schemas of actions, observations and states."""
        await authorised(request)
        return schemas()

    @app.get("/openenv.yaml")
    async def openenv_yaml(request: Request) -> PlainTextResponse:
        """The manifest."""
        await authorised(request)
        return PlainTextResponse(manifest(port, sessions.idle_seconds), media_type="application/yaml")

    @app.post("/reset")
    @app.post("/step")
    @app.get("/state")
    async def without_session(request: Request) -> JSONResponse:
        """Refuse the request: a machine belongs to a session, and these routes of OpenEnv have no session."""
        await authorised(request)
        return JSONResponse({"code": "session_required", "message": "use the socket /ws"}, 409)


def _add_tasks(app: FastAPI, authorised: Authorised, sessions: SessionRegistry) -> None:
    @app.get("/list_environments")
    async def environments(request: Request) -> list[str]:
        """The one environment."""
        await authorised(request)
        return [NAME]

    @app.get(f"/{NAME}/splits")
    async def splits(request: Request) -> list[dict[str, str]]:
        """The one split."""
        await authorised(request)
        return [{"name": "all", "type": "train"}]

    @app.post(f"/{NAME}/num_tasks")
    async def task_count(request: Request) -> dict[str, int]:
        """How many tasks there are."""
        await authorised(request)
        return {"num_tasks": len(await sessions.catalog.tasks())}

    @app.post(f"/{NAME}/tasks")
    async def tasks(request: Request) -> dict[str, Any]:
        """Every task's id, name, instruction and platform; never its verifier."""
        await authorised(request)
        fields = {"id", "name", "instruction", "platform", "max_steps"}
        found = [task.model_dump(mode="json", include=fields) for task in await sessions.catalog.tasks()]
        return {"tasks": found, "env_name": NAME}


def _add_mcp(app: FastAPI, authorised: Authorised, sessions: SessionRegistry) -> None:
    @app.post("/mcp")
    async def mcp(request: Request) -> Response:
        """MCP over streamable HTTP, with OpenEnv's two methods for sessions."""
        principal = await authorised(request)
        message, failure = _parse_rpc(await _read_body(request))
        if message is None:
            return JSONResponse(failure, 400)
        if "id" not in message:
            return Response(status_code=202)
        try:
            return await _answer_mcp(request, message, sessions, principal)
        except EnvironmentRefusal as refusal:
            status = 404 if refusal.code == "unknown_session" and SESSION_HEADER in request.headers else 200
            return JSONResponse(rpc_error(message["id"], SERVER_ERROR, str(refusal), refusal.code), status)

    @app.get("/mcp")
    async def no_stream(request: Request) -> Response:
        """The server sends nothing by itself."""
        await authorised(request)
        return Response(status_code=405)

    @app.delete("/mcp")
    async def end(request: Request) -> Response:
        """End a session of MCP."""
        principal = await authorised(request)
        with contextlib.suppress(EnvironmentRefusal):
            await sessions.close(sessions.find(request.headers.get(SESSION_HEADER, ""), principal))
        return Response(status_code=204)


async def _answer_mcp(request: Request, message: dict[str, Any], sessions: SessionRegistry, principal: str) -> Response:
    """Raises EnvironmentRefusal."""
    request_id, method, params = message["id"], message.get("method"), message.get("params")
    if method == "initialize":
        opened = sessions.open(principal)
        return JSONResponse(rpc_result(request_id, initialize_result()), headers={SESSION_HEADER: opened.id})
    if method == "openenv/session/create":
        return JSONResponse(rpc_result(request_id, {"session_id": sessions.open(principal).id}))
    named = params.get("session_id") if isinstance(params, dict) else None
    session = sessions.find(str(named or request.headers.get(SESSION_HEADER, "")), principal)
    if method == "openenv/session/close":
        if session.attached:
            raise EnvironmentRefusal("session_attached", "a socket uses this session")
        await sessions.close(session)
        return JSONResponse(rpc_result(request_id, {"session_id": session.id, "closed": True}))
    return JSONResponse(await answer_rpc(session, message))


async def _read_body(request: Request, limit: int = MAX_BODY_BYTES) -> bytes:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > limit:
            raise HTTPException(413, f"a body may have {limit} bytes")
    return bytes(body)


def _parse_rpc(body: bytes) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """The request, or the error if it is not one."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return None, rpc_error(None, PARSE_ERROR, "the body is no JSON")
    if not isinstance(message, dict) or find_json_error(message) is not None or message.get("jsonrpc") != "2.0":
        return None, rpc_error(None, INVALID_REQUEST, "the body is no request of JSON-RPC 2.0")
    return message, {}


async def _converse(websocket: WebSocket, session: EnvironmentSession, idle_seconds: float) -> None:
    """Answer a socket's messages in order until it closes, or until it has sent no reset or step for too long.

    A lost socket cancels the running step, so that the machine is returned at once.
    """
    messages: asyncio.Queue[str] = asyncio.Queue(MAX_QUEUED_MESSAGES)

    async def receive() -> None:
        while True:
            await messages.put(await websocket.receive_text())

    async def answer() -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + idle_seconds
        while True:
            try:
                async with asyncio.timeout_at(deadline):
                    text = await messages.get()
            except TimeoutError:
                raise EnvironmentRefusal("session_idle", f"no reset or step for {idle_seconds:g} s") from None
            used = session.last_used
            reply = await answer_message(session, text)
            if reply is None:
                return
            await websocket.send_json(reply)
            if session.last_used != used:
                deadline = loop.time() + idle_seconds

    running = {asyncio.create_task(receive()), asyncio.create_task(answer())}
    try:
        finished, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
    for task in finished:
        task.result()
