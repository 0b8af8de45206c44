"""The bridge over HTTP: leases, machine calls and streams, with an OpenAPI document at `/openapi.json`."""

import hmac
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Header, Request, Response
from fastapi.middleware.cors import CORSMiddleware
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vm_bridge.drivers.osworld_task import refusal_of
from vm_bridge.machine import Machine
from vm_bridge.manager.lean import Lean
from vm_bridge.manager.manager import Manager
from vm_bridge.manager.routes import routes as manager_routes
from vm_bridge.pool import Pool
from vm_bridge.refusals import FORESEEN, refuse
from vm_bridge.thumbnail import thumbnail_of
from vm_bridge.wire import (
    FENCING_HEADER,
    MEDIA_TYPE,
    Evaluate,
    Failure,
    Name,
    Observe,
    Perform,
    Tasks,
    answer_pack,
)
from vocabulary.actions import MAX_FILE
from vocabulary.blobs import BlobRef, Sha256
from vocabulary.observations import Verdict
from vocabulary.tasks import Task, Variant

MAX_BODY = 8 * 1024 * 1024
"""Largest request body (bytes)."""
FILE_BODIES = ("/files/content", "/stage")
"""How the paths end whose bodies are files; they are read by who has the secret alone."""
PACKED: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {MEDIA_TYPE: {}},
        "description": "A msgpack map: `json` is the Observation or Transition, `blobs` its pictures by sha256.",
    }
}
JPEG: dict[int | str, dict[str, Any]] = {200: {"content": {"image/jpeg": {}}}}
Token = Annotated[int, Header(alias=FENCING_HEADER, ge=1)]


@dataclass(frozen=True, slots=True)
class Bridge:
    """What the server serves: the manager's calls, those on this host's machines, or both."""

    secret: str
    web_origins: tuple[str, ...]
    ping: Callable[[], Awaitable[None]]
    """Raises redis.RedisError when Redis does not answer."""
    suite_tasks: Callable[[str, Variant], tuple[Task, ...]]
    """Raises UnknownTask."""
    manager: Manager | None = None
    pool: Pool | None = None
    guarded: tuple[APIRouter, ...] = ()
    """More routes for who has the secret."""
    ticketed: tuple[APIRouter, ...] = ()
    """Routes for browsers, which bring tickets."""

    def guarded_routes(self) -> Iterator[APIRouter]:
        """Every router whose calls need the secret; those asked most often come first."""
        if self.manager is not None:
            yield manager_routes
        if self.pool is not None:
            yield machine_calls
        yield suite_calls
        yield from self.guarded


def app_of(bridge: Bridge, lifespan: Callable[[], Any]) -> FastAPI:
    """The ASGI application; `lifespan` makes the context that starts and stops what it serves."""

    @asynccontextmanager
    async def run(_: FastAPI) -> AsyncIterator[None]:
        async with lifespan():
            yield

    app = FastAPI(title="Pilothouse bridge", version="1", lifespan=run, docs_url=None, redoc_url=None)
    app.state.bridge = bridge
    refusals: dict[int | str, dict[str, Any]] = {"default": {"model": Failure}}
    for router in bridge.guarded_routes():
        app.include_router(router, dependencies=[Depends(_authorized)], responses=refusals)
    for router in bridge.ticketed:
        app.include_router(router, responses=refusals)
    app.add_middleware(BodyLimit)
    app.add_middleware(
        CORSMiddleware,
        allow_origins=bridge.web_origins,
        allow_methods=["GET", "POST"],
        allow_headers=["Authorization", "Content-Type"],
        expose_headers=["X-Captured-At"],
        max_age=600,
    )
    if bridge.manager is not None:
        app.add_middleware(Lean, manager=bridge.manager, secret=bridge.secret)
    for error in FORESEEN:
        app.add_exception_handler(error, refuse)

    @app.get("/healthz")
    async def healthz() -> dict[str, bool]:
        """Whether this process answers and Redis does."""
        await bridge.ping()
        return {"ok": True}

    return app


def _bridge(request: Request) -> Bridge:
    bridge: Bridge = request.app.state.bridge
    return bridge


async def _authorized(request: Request) -> None:  # a plain function would go through a thread
    given = request.headers.get("Authorization", "")
    if not hmac.compare_digest(given.encode(), f"Bearer {_bridge(request).secret}".encode()):
        raise HTTPException(401, "the bearer secret is missing or wrong")


async def _machine(request: Request, machine_id: Name, token: Token) -> Machine:
    pool = _bridge(request).pool
    assert pool is not None, "these routes are served where a pool is"
    return await pool.machine(machine_id, token)


Leased = Annotated[Machine, Depends(_machine)]
machine_calls = APIRouter(prefix="/v1")
suite_calls = APIRouter(prefix="/v1")


@machine_calls.get("/machines/{machine_id}/thumbnail", response_class=Response, responses=JPEG)
async def thumbnail(request: Request, machine_id: Name) -> Response:
    """A small picture of what a machine shows now, whoever has it."""
    pool = _bridge(request).pool
    assert pool is not None
    return Response(await thumbnail_of(pool.sandbox(machine_id)), media_type="image/jpeg")


@suite_calls.post("/suites/{suite}/tasks")
async def suite_tasks(request: Request, suite: Name, body: Variant) -> tuple[Task, ...]:
    """The bundled tasks of a suite in one form, as far as they have it."""
    return _bridge(request).suite_tasks(suite, body)


@suite_calls.post("/images/{image}/refusals")
async def refusals(image: Name, body: Tasks) -> tuple[str | None, ...]:
    """For each task why machines of the image would not judge it, or nothing."""
    return tuple(refusal_of(image, task) for task in body.tasks)


@machine_calls.post("/machines/{machine_id}/prepare", response_class=Response, responses=PACKED)
async def prepare(machine: Leased, body: Task) -> Response:
    """Reset, set up the task's start state, and look."""
    return Response(await answer_pack(machine, await machine.prepare(body)), media_type=MEDIA_TYPE)


@machine_calls.post("/machines/{machine_id}/observe", response_class=Response, responses=PACKED)
async def observe(machine: Leased, body: Observe) -> Response:
    """Look."""
    return Response(await answer_pack(machine, await machine.observe(settle=body.settle)), media_type=MEDIA_TYPE)


@machine_calls.post("/machines/{machine_id}/perform", response_class=Response, responses=PACKED)
async def perform(machine: Leased, body: Perform) -> Response:
    """Do one action once; a resend of the same command gives the stored transition."""
    transition = await machine.perform(body.command_id, body.action, settle=body.settle)
    return Response(await answer_pack(machine, transition), media_type=MEDIA_TYPE)


@machine_calls.post("/machines/{machine_id}/hurry", status_code=204)
async def hurry(machine: Leased) -> None:
    """Cut a running settle short."""
    await machine.hurry()


@machine_calls.post("/machines/{machine_id}/evaluate")
async def evaluate(machine: Leased, body: Evaluate) -> Verdict:
    """Judge the present state."""
    return await machine.evaluate(answer=body.answer)


@machine_calls.get("/machines/{machine_id}/blobs/{sha256}", response_class=Response)
async def blob(machine: Leased, sha256: Sha256) -> Response:
    """The bytes of a recent picture."""
    data = await machine.blob(BlobRef(sha256=sha256, media_type="application/octet-stream", size=0))
    return Response(data, media_type="application/octet-stream")


class BodyLimit:
    """Refuses bodies that are too long, whether or not they say their length."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        received = 0
        most = MAX_FILE if scope["path"].endswith(FILE_BODIES) else MAX_BODY

        async def limited() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > most:
                raise HTTPException(413, f"a body may have {most} bytes")
            return message

        await self._app(scope, limited, send)
