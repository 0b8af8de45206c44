"""The bridge over HTTP: leases, machine calls and streams, with an OpenAPI document at `/openapi.json`."""

import hmac
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Header, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import JSONResponse
from redis.exceptions import RedisError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vm_bridge.errors import BridgeError, BridgeUnavailable
from vm_bridge.machine import Lease, Machine
from vm_bridge.pool import Pool
from vm_bridge.wire import (
    FENCING_HEADER,
    MEDIA_TYPE,
    Allocate,
    Evaluate,
    Failure,
    Name,
    Observe,
    Perform,
    Renew,
    Warm,
    answer_pack,
)
from vocabulary.actions import MAX_FILE
from vocabulary.blobs import BlobRef, Sha256
from vocabulary.observations import Verdict
from vocabulary.tasks import Task

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
Token = Annotated[int, Header(alias=FENCING_HEADER, ge=1)]


@dataclass(frozen=True, slots=True)
class Bridge:
    """What the server serves."""

    pool: Pool
    secret: str
    web_origins: tuple[str, ...]
    streams: APIRouter
    recordings: APIRouter
    suite_tasks: Callable[[str], tuple[Task, ...]]
    """Raises UnknownTask."""


def app_of(bridge: Bridge, lifespan: Callable[[], Any]) -> FastAPI:
    """The ASGI application; `lifespan` makes the context that starts and stops what it serves."""

    @asynccontextmanager
    async def run(_: FastAPI) -> AsyncIterator[None]:
        async with lifespan():
            yield

    app = FastAPI(title="Pilothouse bridge", version="1", lifespan=run, docs_url=None, redoc_url=None)
    app.state.bridge = bridge
    app.include_router(calls, responses={"default": {"model": Failure}})
    app.include_router(
        bridge.recordings, dependencies=[Depends(_authorized)], responses={"default": {"model": Failure}}
    )
    app.include_router(bridge.streams, responses={"default": {"model": Failure}})
    app.add_middleware(BodyLimit)
    app.add_middleware(
        CORSMiddleware,
        allow_origins=bridge.web_origins,
        allow_methods=["GET", "POST"],
        allow_headers=["Authorization", "Content-Type"],
        expose_headers=["X-Captured-At"],
        max_age=600,
    )
    app.add_exception_handler(BridgeError, _bridge_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(RedisError, _no_redis)

    @app.get("/healthz")
    async def healthz() -> dict[str, bool]:
        """Whether this process answers and Redis does."""
        await bridge.pool.ping()
        return {"ok": True}

    return app


def _bridge(request: Request) -> Bridge:
    bridge: Bridge = request.app.state.bridge
    return bridge


def _authorized(request: Request) -> None:
    given = request.headers.get("Authorization", "")
    if not hmac.compare_digest(given.encode(), f"Bearer {_bridge(request).secret}".encode()):
        raise HTTPException(401, "the bearer secret is missing or wrong")


async def _machine(request: Request, machine_id: Name, token: Token) -> Machine:
    return await _bridge(request).pool.machine(machine_id, token)


Leased = Annotated[Machine, Depends(_machine)]
calls = APIRouter(prefix="/v1", dependencies=[Depends(_authorized)])


@calls.post("/leases")
async def allocate(request: Request, body: Allocate) -> Lease:
    """Lease a machine, waiting for one if need be."""
    pool = _bridge(request).pool
    lease = await pool.allocate(image=body.image, holder=body.holder, ttl=body.ttl, wait=body.wait)
    if await request.is_disconnected():  # nobody is left to have it
        await pool.release(lease.machine_id, lease.fencing_token)
    return lease


@calls.post("/leases/{machine_id}/renew")
async def renew(request: Request, machine_id: Name, token: Token, body: Renew) -> Lease:
    """Put the end of a lease off."""
    return await _bridge(request).pool.renew(machine_id, token, ttl=body.ttl)


@calls.delete("/leases/{machine_id}", status_code=204)
async def release(request: Request, machine_id: Name, token: Token) -> None:
    """End a lease; idempotent."""
    await _bridge(request).pool.release(machine_id, token)


@calls.put("/images/{image}/warm", status_code=204)
async def warm(request: Request, image: Name, body: Warm) -> None:
    """Keep so many machines of an image ready."""
    await _bridge(request).pool.warm(image, body.count)


@calls.get("/suites/{suite}/tasks")
async def suite_tasks(request: Request, suite: Name) -> tuple[Task, ...]:
    """The bundled tasks of a suite."""
    return _bridge(request).suite_tasks(suite)


@calls.post("/machines/{machine_id}/prepare", response_class=Response, responses=PACKED)
async def prepare(machine: Leased, body: Task) -> Response:
    """Reset, set up the task's start state, and look."""
    return Response(await answer_pack(machine, await machine.prepare(body)), media_type=MEDIA_TYPE)


@calls.post("/machines/{machine_id}/observe", response_class=Response, responses=PACKED)
async def observe(machine: Leased, body: Observe) -> Response:
    """Look."""
    return Response(await answer_pack(machine, await machine.observe(settle=body.settle)), media_type=MEDIA_TYPE)


@calls.post("/machines/{machine_id}/perform", response_class=Response, responses=PACKED)
async def perform(machine: Leased, body: Perform) -> Response:
    """Do one action once; a resend of the same command gives the stored transition."""
    transition = await machine.perform(body.command_id, body.action, settle=body.settle)
    return Response(await answer_pack(machine, transition), media_type=MEDIA_TYPE)


@calls.post("/machines/{machine_id}/hurry", status_code=204)
async def hurry(machine: Leased) -> None:
    """Cut a running settle short."""
    await machine.hurry()


@calls.post("/machines/{machine_id}/evaluate")
async def evaluate(machine: Leased, body: Evaluate) -> Verdict:
    """Judge the present state."""
    return await machine.evaluate(answer=body.answer)


@calls.get("/machines/{machine_id}/blobs/{sha256}", response_class=Response)
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


CODES = {401: "unauthorized", 404: "not_found", 405: "not_allowed", 413: "too_large"}


def _failure(status: int, code: str, message: str) -> JSONResponse:
    return JSONResponse(Failure(code=code, message=message).model_dump(), status)


async def _bridge_error(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, BridgeError)
    return _failure(error.status, error.code, str(error))


async def _invalid(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    problems = [f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()]
    return _failure(422, "invalid", "; ".join(problems)[:2_000])


async def _http_error(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return _failure(error.status_code, CODES.get(error.status_code, "http_error"), str(error.detail))


async def _no_redis(_: Request, error: Exception) -> JSONResponse:
    return _failure(BridgeUnavailable.status, BridgeUnavailable.code, "Redis does not answer")
