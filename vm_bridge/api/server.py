"""The bridge over HTTP: leases, machine calls and streams, with an OpenAPI document at `/openapi.json`."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Header, Request, Response
from fastapi.middleware.cors import CORSMiddleware
from redis.exceptions import RedisError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from protocol.actions.types import MAX_FILE
from protocol.blobs import BlobRef, Sha256
from protocol.trajectory.observations import Verdict
from protocol.trajectory.tasks import Task, TaskVariant
from vm_bridge.api.error_handlers import HANDLED_ERRORS, error_response, handle_error
from vm_bridge.api.lease_routes import allocate, release, renew_many
from vm_bridge.api.lease_routes import routes as manager_routes
from vm_bridge.api.thumbnails import render_thumbnail
from vm_bridge.api.wire import (
    DRIVER_HEADER,
    FENCING_HEADER,
    MEDIA_TYPE,
    AllocateRequest,
    ErrorResponse,
    EvaluateRequest,
    LeaseRef,
    Name,
    ObserveRequest,
    PerformRequest,
    RenewManyRequest,
    TaskList,
    pack_response,
)
from vm_bridge.drivers.osworld import task_files
from vm_bridge.drivers.phone import android_world_tasks
from vm_bridge.errors import BridgeError
from vm_bridge.fleet import SuiteInfo
from vm_bridge.host_keys import CallVerifier
from vm_bridge.leases.manager import LeaseManager
from vm_bridge.machine import Machine
from vm_bridge.pool import MachinePool

MAX_BODY = 8 * 1024 * 1024
"""Largest request body (bytes)."""
FILE_BODY_PATHS = ("/files/content", "/stage")
"""Suffixes of the paths whose bodies are files. These bodies are read from authorised callers alone."""
MSGPACK_RESPONSE: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {MEDIA_TYPE: {}},
        "description": "A msgpack map: `json` is the Observation or Transition, `blobs` its pictures by sha256.",
    }
}
JPEG_RESPONSE: dict[int | str, dict[str, Any]] = {200: {"content": {"image/jpeg": {}}}}
Token = Annotated[int, Header(alias=FENCING_HEADER, ge=1)]
LEASES_PATH, PREVIEWS_PATH = "/v1/leases", "/sandboxes/"
FENCING_HEADER_BYTES = FENCING_HEADER.lower().encode()
Call = Callable[[], Awaitable[Response]]
DriverToken = Annotated[int | None, Header(alias=DRIVER_HEADER, ge=1)]


@dataclass(frozen=True, slots=True)
class Bridge:
    """What the server serves: the manager's calls, the calls on this host's machines, or both."""

    manager_callers: CallVerifier
    """Verifiers of callers who may claim machines and make an operator's calls."""
    machine_callers: CallVerifier
    """Verifiers of callers who may act on the machines of this host."""
    web_origins: tuple[str, ...]
    ping: Callable[[], Awaitable[None]]
    """Raises redis.RedisError if Redis does not answer."""
    suite_tasks: Callable[[str, TaskVariant], tuple[Task, ...]]
    """Raises UnknownTask."""
    suites: Callable[[], tuple[SuiteInfo, ...]] = tuple
    manager: LeaseManager | None = None
    pool: MachinePool | None = None
    machine_routers: tuple[APIRouter, ...] = ()
    """Further routes on the machines of this host."""
    ticket_routers: tuple[APIRouter, ...] = ()
    """Routes for browsers, which authenticate with tickets."""
    previews: Callable[[ASGIApp], ASGIApp] | None = None
    """Creates the application that serves the web programs inside this host's machines to browsers."""

    def authorised_routers(self) -> Iterator[tuple[APIRouter, tuple[CallVerifier, ...]]]:
        """Every router whose calls need a key, with its verifiers. The most used come first."""
        if self.manager is not None:
            yield manager_routes, (self.manager_callers,)
        if self.pool is not None:
            yield machine_routes, (self.machine_callers,)
        yield suite_routes, (self.manager_callers, self.machine_callers)
        for router in self.machine_routers:
            yield router, (self.machine_callers,)


def create_api(bridge: Bridge, lifespan: Callable[[], Any]) -> FastAPI:
    """The ASGI application. `lifespan` creates the context that starts and stops the services."""

    @asynccontextmanager
    async def run(_: FastAPI) -> AsyncIterator[None]:
        async with lifespan():
            # The first listing reads every task. Without this, people would wait for it in a dialog.
            listing = asyncio.create_task(asyncio.to_thread(bridge.suites))
            yield
            await asyncio.gather(listing, return_exceptions=True)

    app = FastAPI(title="Pilothouse bridge", version="1", lifespan=run, docs_url=None, redoc_url=None)
    app.state.bridge = bridge
    error_responses: dict[int | str, dict[str, Any]] = {"default": {"model": ErrorResponse}}
    for router, callers in bridge.authorised_routers():
        app.include_router(router, dependencies=[Depends(_require_key(callers))], responses=error_responses)
    for router in bridge.ticket_routers:
        app.include_router(router, responses=error_responses)
    app.add_middleware(BodySizeLimit)
    app.add_middleware(
        CORSMiddleware,
        allow_origins=bridge.web_origins,
        allow_methods=["GET", "POST"],
        allow_headers=["Authorization", "Content-Type"],
        expose_headers=["X-Captured-At"],
        max_age=600,
    )
    app.add_middleware(RequestRouter, bridge=bridge)
    for error in HANDLED_ERRORS:
        app.add_exception_handler(error, handle_error)

    @app.get("/healthz")
    async def healthz() -> dict[str, bool]:
        """Whether this process answers and Redis does."""
        await bridge.ping()
        return {"ok": True}

    return app


def _bridge(request: Request) -> Bridge:
    bridge: Bridge = request.app.state.bridge
    return bridge


def _require_key(callers: tuple[CallVerifier, ...]) -> Callable[[Request], Awaitable[None]]:
    async def check(request: Request) -> None:  # a plain function would go through a thread
        authorization = request.headers.get("Authorization", "").encode("latin-1")
        if not any(caller.allows(authorization) for caller in callers):
            raise HTTPException(401, "the authorization is missing, has expired, or is of another host's key")

    return check


async def _machine(request: Request, machine_id: Name, token: Token, driver: DriverToken = None) -> Machine:
    pool = _bridge(request).pool
    assert pool is not None, "these routes are served where a pool is"
    return await pool.machine(machine_id, token, driver)


LeasedMachine = Annotated[Machine, Depends(_machine)]
machine_routes = APIRouter(prefix="/v1")
suite_routes = APIRouter(prefix="/v1")


@machine_routes.get("/machines/{machine_id}/thumbnail", response_class=Response, responses=JPEG_RESPONSE)
async def thumbnail(request: Request, machine_id: Name) -> Response:
    """A small picture of a machine's screen, whoever holds the machine."""
    pool = _bridge(request).pool
    assert pool is not None
    return Response(await render_thumbnail(pool.sandbox(machine_id)), media_type="image/jpeg")


@suite_routes.get("/suites")
async def suites(request: Request) -> tuple[SuiteInfo, ...]:
    """The suites that come with the bridge, and the names of their tasks."""
    return await asyncio.to_thread(_bridge(request).suites)


@suite_routes.post("/suites/{suite}/tasks")
async def suite_tasks(request: Request, suite: Name, body: TaskVariant) -> tuple[Task, ...]:
    """The bundled tasks of a suite in one variant, as far as they have it."""
    return _bridge(request).suite_tasks(suite, body)


@suite_routes.post("/images/{image}/refusals")
async def unsupported_tasks(image: Name, body: TaskList) -> tuple[str | None, ...]:
    """For each task, why machines of the image cannot judge it, or null."""
    return tuple(
        task_files.unsupported_reason(image, task) or android_world_tasks.unsupported_reason(image, task)
        for task in body.tasks
    )


@machine_routes.post("/machines/{machine_id}/prepare", response_class=Response, responses=MSGPACK_RESPONSE)
async def prepare(machine: LeasedMachine, body: Task) -> Response:
    """Reset the machine, set up the task's start state, and observe it."""
    return Response(await pack_response(machine, await machine.prepare(body)), media_type=MEDIA_TYPE)


@machine_routes.post("/machines/{machine_id}/observe", response_class=Response, responses=MSGPACK_RESPONSE)
async def observe(machine: LeasedMachine, body: ObserveRequest) -> Response:
    """Observe the machine."""
    return Response(await pack_response(machine, await machine.observe(settle=body.settle)), media_type=MEDIA_TYPE)


@machine_routes.post("/machines/{machine_id}/perform", response_class=Response, responses=MSGPACK_RESPONSE)
async def perform(machine: LeasedMachine, body: PerformRequest) -> Response:
    """Execute one action once. A resend of the same command returns the stored transition."""
    transition = await machine.perform(
        body.command_id,
        body.action,
        settle=body.settle,
        snapshot=body.snapshot,
        expected=body.expected,
        wait_for_timers=body.wait_for_timers,
    )
    return Response(await pack_response(machine, transition), media_type=MEDIA_TYPE)


@machine_routes.post("/machines/{machine_id}/hurry", status_code=204)
async def skip_settle(machine: LeasedMachine) -> None:
    """Skip the rest of a running settle."""
    await machine.skip_settle()


@machine_routes.post("/machines/{machine_id}/evaluate")
async def evaluate(machine: LeasedMachine, body: EvaluateRequest) -> Verdict:
    """Evaluate the current state."""
    return await machine.evaluate(answer=body.answer)


@machine_routes.get("/machines/{machine_id}/blobs/{sha256}", response_class=Response)
async def blob(machine: LeasedMachine, sha256: Sha256) -> Response:
    """The bytes of a recent picture."""
    data = await machine.blob(BlobRef(sha256=sha256, media_type="application/octet-stream", size=0))
    return Response(data, media_type="application/octet-stream")


class BodySizeLimit:
    """Rejects bodies that are too long, whether or not they declare their length."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        received = 0
        most = MAX_FILE if scope["path"].endswith(FILE_BODY_PATHS) else MAX_BODY

        async def limited() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > most:
                raise HTTPException(413, f"a body may have {most} bytes")
            return message

        await self._app(scope, limited, send)


class RequestRouter:
    """Runs before the framework: forwards requests for the machines' web programs, and answers the most frequent calls
    itself.

    These calls, made thousands of times a second, are endpoints of `lease_routes`, which documents them. A request with
    any irregularity (key, header, body) goes to the framework, which reports the error.
    """

    def __init__(self, app: ASGIApp, *, bridge: Bridge) -> None:
        self._app = app
        self._previews = bridge.previews(app) if bridge.previews is not None else None
        self._manager = bridge.manager
        self._callers = bridge.manager_callers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if self._previews is not None and path.startswith(PREVIEWS_PATH):
            await self._previews(scope, receive, send)
        elif self._manager is not None and scope["type"] == "http" and path.startswith(LEASES_PATH):
            await self._answer_lease_call(self._manager, scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _answer_lease_call(self, manager: LeaseManager, scope: Scope, receive: Receive, send: Send) -> None:
        first = await receive()
        call = self._call(manager, scope, first, receive)
        if call is None:
            return await self._app(scope, _replay_first(first, receive), send)
        try:
            response = await call()
        except (BridgeError, RedisError) as error:
            response = error_response(error)
        await response(scope, receive, send)

    def _call(self, manager: LeaseManager, scope: Scope, first: Message, wait_disconnect: Receive) -> Call | None:
        """Parse a request. Returns None if the framework has to handle it."""
        headers: dict[bytes, bytes] = dict(scope["headers"])
        if first.get("more_body") or not self._callers.allows(headers.get(b"authorization", b"")):
            return None
        body: bytes = first.get("body", b"")
        try:
            match scope["method"], scope["path"]:
                case "POST", "/v1/leases":
                    claim_request = AllocateRequest.model_validate_json(body)
                    return lambda: allocate(wait_disconnect, manager, claim_request)
                case "POST", "/v1/leases/renew":
                    many = RenewManyRequest.model_validate_json(body)
                    return lambda: renew_many(manager, many)
                case "DELETE", path:
                    held = LeaseRef(
                        machine_id=path[len(LEASES_PATH) + 1 :],
                        fencing_token=int(headers.get(FENCING_HEADER_BYTES, b"")),
                    )
                    return lambda: release(manager, held.machine_id, held.fencing_token)
        except ValueError:  # includes pydantic's errors
            return None
        return None


def _replay_first(first: Message, receive: Receive) -> Receive:
    """A `receive` that returns the first message again."""
    rest: list[Message] = [first]

    async def replayed() -> Message:
        return rest.pop() if rest else await receive()

    return replayed
