"""Recordings over HTTP."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Header, Path, Response
from fastapi.responses import FileResponse

from vm_bridge.api.wire import FENCING_HEADER, Name, Recording
from vm_bridge.recording.recorder import Recorder
from vm_bridge.sandbox import Sandbox

Token = Annotated[int, Header(alias=FENCING_HEADER, ge=1)]
Key = Annotated[str, Path(pattern=r"^[0-9a-f]{16}$")]
Number = Annotated[int, Path(ge=0, lt=1_000)]


def recording_routes(recorder: Recorder, leased: Callable[[str, int], Awaitable[Sandbox]]) -> APIRouter:
    """The routes, for authorised callers. `leased` raises MachineGone and StaleLease."""
    router = APIRouter(prefix="/v1")

    @router.post("/machines/{machine_id}/recording")
    async def start_recording(machine_id: Name, token: Token) -> Recording:
        """Record a machine until its lease ends; a running recording continues."""
        return recorder.start(await leased(machine_id, token))

    @router.delete("/machines/{machine_id}/recording")
    async def stop_recording(machine_id: Name, token: Token) -> Recording | None:
        """End the recording of a machine; null where none runs. Idempotent."""
        return await recorder.stop((await leased(machine_id, token)).id)

    @router.get("/recordings/{key}")
    async def recording(key: Key) -> Recording:
        """What is known of a recording, whatever became of its machine."""
        return recorder.find(key)

    @router.get("/recordings/{key}/parts/{number}", response_class=FileResponse)
    async def get_recording_part(key: Key, number: Number) -> FileResponse:
        """The MP4 of a part; one that is still written ends where the writing was."""
        return FileResponse(recorder.part(key, number), media_type="video/mp4")

    @router.delete("/recordings/{key}", status_code=204)
    async def delete_recording(key: Key) -> Response:
        """Remove a recording that has ended. Idempotent."""
        recorder.forget(key)
        return Response(status_code=204)

    return router
