"""HTTP routes of a machine's screen and state: pictures by GET, snapshots, restore, time scale, and expert
suggestions."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Response

from protocol.blobs import Sha256
from protocol.trajectory.observations import MachineSnapshot
from vm_bridge.api.wire import DRIVER_HEADER, FENCING_HEADER, MEDIA_TYPE, Name, TimeScaleRequest, pack_response
from vm_bridge.errors import UnsupportedAction
from vm_bridge.machine import ExpertSuggestion, Machine

PICTURE_RESPONSE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"image/jpeg": {}, "image/png": {}}, "description": "The picture; its ETag is its sha256."},
    304: {"description": "The screen shows what it showed."},
}
MSGPACK_RESPONSE: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {MEDIA_TYPE: {}},
        "description": "A msgpack map: `json` is the Observation, `blobs` its picture by sha256.",
    }
}
Since = Annotated[Sha256 | None, Query(description="The sha256 of a picture that is held already.")]


def state_routes(leased: Callable[[str, int, int | None], Awaitable[Machine]]) -> APIRouter:
    """The routes, for authorised callers. `leased` raises MachineGone and StaleLease."""

    async def machine(
        machine_id: Name,
        token: Annotated[int, Header(alias=FENCING_HEADER, ge=1)],
        driver: Annotated[int | None, Header(alias=DRIVER_HEADER, ge=1)] = None,
    ) -> Machine:
        return await leased(machine_id, token, driver)

    router = APIRouter(prefix="/v1/machines/{machine_id}")
    held = Depends(machine)

    @router.get("/screenshot", response_class=Response, responses=PICTURE_RESPONSE)
    async def screenshot(since: Since = None, machine: Machine = held) -> Response:
        """The current picture, or 304 if it is still the one of `since`."""
        picture = (await machine.observe()).screenshot
        if picture is None:
            raise UnsupportedAction("this machine has no screen")
        headers = {"ETag": f'"{picture.sha256}"', "Cache-Control": "no-store"}
        if picture.sha256 == since:
            return Response(status_code=304, headers=headers)
        return Response(await machine.blob(picture), media_type=picture.media_type, headers=headers)

    @router.post("/snapshot")
    async def snapshot(machine: Machine = held) -> MachineSnapshot:
        """Take a snapshot of the current state."""
        return await machine.snapshot()

    @router.post("/restore", response_class=Response, responses=MSGPACK_RESPONSE)
    async def restore(body: MachineSnapshot, machine: Machine = held) -> Response:
        """Restore an earlier state; `cannot_restore` means that nothing has changed."""
        return Response(await pack_response(machine, await machine.restore(body)), media_type=MEDIA_TYPE)

    @router.put("/pace", status_code=204)
    async def set_time_scale(body: TimeScaleRequest, machine: Machine = held) -> None:
        """Set how fast the machine's own time runs between two acts."""
        await machine.set_time_scale(body.rate)

    @router.post("/advise")
    async def suggest_expert_action(machine: Machine = held) -> ExpertSuggestion | None:
        """The next action of the prepared task's scripted expert."""
        return await machine.suggest_expert_action()

    return router
