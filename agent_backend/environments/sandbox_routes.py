"""The routes of sandboxes. The client chooses a sandbox's id, so that it can end one whose creation it cancelled."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

from fastapi import FastAPI, Query, Request, Response
from fastapi import Path as PathParameter
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from agent_backend.environments.errors import EnvironmentRefusal
from agent_backend.environments.openenv import NAME
from agent_backend.environments.sandboxes import (
    MAX_PART_BYTES,
    ExecuteRequest,
    SandboxPath,
    SandboxRequest,
    SystemFailure,
)
from agent_backend.environments.sessions import SessionRegistry
from agent_backend.environments.validation import parse_body

SandboxId = Annotated[str, PathParameter(pattern=r"^[A-Za-z0-9-]{16,64}$")]
SANDBOX = f"/{NAME}/sandboxes/{{sandbox_id}}"
MAX_REQUEST_BYTES = 2 * MAX_PART_BYTES
"""Standard input is in base64, which is longer than its bytes."""
SIZE_HEADER = "X-File-Size"
STATUSES = {"unknown_session": 404, "invalid_request": 422, "capacity_reached": 503, "no_machine": 503}
"""HTTP statuses of refusals by code; others have 409."""
Model = TypeVar("Model", bound=BaseModel)
ReadBody = Callable[[Request, int], Awaitable[bytes]]


def add_sandboxes(
    app: FastAPI, authorised: Callable[[Request], Any], sessions: SessionRegistry, read_body: ReadBody
) -> None:
    """Add the routes. `read_body` raises HTTPException if a body is longer than the limit."""

    @app.exception_handler(EnvironmentRefusal)
    async def refuse(_: Request, refusal: EnvironmentRefusal) -> JSONResponse:
        return JSONResponse({"code": refusal.code, "message": str(refusal)}, STATUSES.get(refusal.code, 409))

    @app.put(SANDBOX)
    async def make(request: Request, sandbox_id: SandboxId) -> dict[str, str]:
        """Lease a machine for this sandbox, and wait for one. Idempotent."""
        principal = await authorised(request)
        wanted = await _parsed(request, SandboxRequest, read_body)
        sandbox = await sessions.open_sandbox(sandbox_id, principal, wanted)
        return {"id": sandbox.id, "image": sandbox.request.image}

    @app.delete(SANDBOX, status_code=204)
    async def end(request: Request, sandbox_id: SandboxId) -> None:
        """Give the machine back, or stop waiting for one. Idempotent."""
        await sessions.close_sandbox(sandbox_id, await authorised(request))

    @app.post(f"{SANDBOX}/execute")
    async def execute(request: Request, sandbox_id: SandboxId) -> dict[str, Any]:
        """Run a command."""
        sandbox = sessions.find_sandbox(sandbox_id, await authorised(request))
        result = await sandbox.execute(await _parsed(request, ExecuteRequest, read_body))
        return result.model_dump(mode="json")

    @app.delete(f"{SANDBOX}/execute", status_code=204)
    async def interrupt(request: Request, sandbox_id: SandboxId) -> None:
        """End the running command."""
        await sessions.find_sandbox(sandbox_id, await authorised(request)).interrupt()

    @app.get(f"{SANDBOX}/files")
    async def read_file(
        request: Request,
        sandbox_id: SandboxId,
        path: SandboxPath,
        offset: Annotated[int, Query(ge=0)] = 0,
        length: Annotated[int, Query(ge=0, le=MAX_PART_BYTES)] = MAX_PART_BYTES,
    ) -> Response:
        """A part of a file; a header has the size of the whole file."""
        sandbox = sessions.find_sandbox(sandbox_id, await authorised(request))
        found = await sandbox.read(path, offset=offset, length=length)
        if found.failure is not None:
            return _failed(found.failure)
        return Response(found.data, headers={SIZE_HEADER: str(found.size)}, media_type="application/octet-stream")

    @app.put(f"{SANDBOX}/files")
    async def write_file(request: Request, sandbox_id: SandboxId, path: SandboxPath, append: bool = False) -> Response:
        """Create, replace or extend a file."""
        sandbox = sessions.find_sandbox(sandbox_id, await authorised(request))
        failure = await sandbox.write(path, await read_body(request, MAX_PART_BYTES), append=append)
        return Response(status_code=204) if failure is None else _failed(failure)


def _failed(failure: SystemFailure) -> JSONResponse:
    return JSONResponse({"code": "system_failure", **failure.model_dump()}, 409)


async def _parsed(request: Request, model: type[Model], read_body: ReadBody) -> Model:
    """Raises EnvironmentRefusal (`invalid_request`)."""
    return parse_body(model, await read_body(request, MAX_REQUEST_BYTES))
