"""Machine queries of the annotation page's panels: folder listings, web programs, shell completion, uploads.

None of these requests changes the machine or is a step. Reading or changing a file is an act.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar
from uuid import UUID

from asgiref.sync import async_to_sync
from django.conf import settings
from django.http import HttpRequest
from ninja import File, Router
from ninja.files import UploadedFile
from pydantic import Field

from annotation_app.accounts.selectors import user_of
from annotation_app.episodes import selectors, services
from annotation_app.errors import Conflict, Forbidden, Invalid, TooLarge
from protocol.actions.types import MAX_FILE, FilePath
from protocol.base import FrozenModel
from protocol.blobs import BlobRef
from vm_bridge.api.client import BridgeClient
from vm_bridge.api.wire import CompletionRequest, ProgramLog
from vm_bridge.errors import BridgeError, InvalidAction, UnsupportedAction
from vm_bridge.machine import Lease, Machine, WebProgram
from vm_bridge.machine_io import CommandCompletion, FileEntry, ScreenTexts

router = Router(tags=["desk"])
R = TypeVar("R")

BYTES = "application/octet-stream"
COMPLETION_TIMEOUT_SECONDS = 5.0
"""Longest time that a person waits for the machine's shell. The machine itself takes 1 s at most."""


class FolderListing(FrozenModel):
    """A folder of the machine. A relative path starts at the home folder."""

    path: str
    entries: tuple[FileEntry, ...]


@router.get("/episodes/{uuid:episode_id}/files", response=FolderListing)
def folder_get(request: HttpRequest, episode_id: UUID, path: FilePath = ".") -> FolderListing:
    """The current content of a folder."""
    selectors.episode_of(user=user_of(request), episode_id=episode_id)
    return FolderListing(path=path, entries=_query_machine(episode_id, lambda machine: machine.files.list(path)))


@router.post("/episodes/{uuid:episode_id}/completions", response=CommandCompletion)
def command_complete(request: HttpRequest, episode_id: UUID, body: CompletionRequest) -> CommandCompletion:
    """Completions of a command line by the machine's own shell. `offered` is False if the machine has no such shell
    or does not answer in time, and if the pool has secrets or has had one since the episode began, because a name may
    show its value."""
    _require_steering(request, episode_id)
    if selectors.episode_has_secrets(episode_id=episode_id):
        return CommandCompletion(offered=False)

    async def query(machine: Machine) -> CommandCompletion:
        try:
            async with asyncio.timeout(COMPLETION_TIMEOUT_SECONDS):
                return await machine.terminals.complete(body.line, session=body.session)
        except (UnsupportedAction, TimeoutError):
            return CommandCompletion(offered=False)

    return _query_machine(episode_id, query)


@router.get("/episodes/{uuid:episode_id}/texts", response=ScreenTexts)
def texts_get(request: HttpRequest, episode_id: UUID) -> ScreenTexts:
    """Window titles and words on the screen. Empty if the machine knows none or does not answer in time. Also empty if
    the pool has secrets, or has had one since the episode began, because their values may be visible."""
    _require_steering(request, episode_id)
    if selectors.episode_has_secrets(episode_id=episode_id):
        return ScreenTexts()

    async def query(machine: Machine) -> ScreenTexts:
        try:
            async with asyncio.timeout(COMPLETION_TIMEOUT_SECONDS):
                return await machine.screen_texts()
        except TimeoutError:
            return ScreenTexts()

    return _query_machine(episode_id, query)


@router.get("/episodes/{uuid:episode_id}/services", response=list[WebProgram])
def services_get(request: HttpRequest, episode_id: UUID) -> list[WebProgram]:
    """The web programs of the machine."""
    selectors.episode_of(user=user_of(request), episode_id=episode_id)
    return list(_lease(episode_id).capabilities.services)


@router.get("/episodes/{uuid:episode_id}/apps", response=tuple[str, ...])
def apps_get(request: HttpRequest, episode_id: UUID) -> tuple[str, ...]:
    """The names of the apps on the machine."""
    selectors.episode_of(user=user_of(request), episode_id=episode_id)
    return _lease(episode_id).capabilities.apps


@router.post("/episodes/{uuid:episode_id}/uploads", response=BlobRef)
def upload_make(request: HttpRequest, episode_id: UUID, file: File[UploadedFile]) -> BlobRef:
    """Store bytes for an `upload_file` act of this episode."""
    _require_steering(request, episode_id)
    if (file.size or 0) > MAX_FILE:
        raise TooLarge(f"A file may have {MAX_FILE} bytes.")
    data = file.read()
    ref = BlobRef.of(data, BYTES)
    services.blob_upload(episode_id=episode_id, ref=ref, data=data)
    return ref


@router.get("/episodes/{uuid:episode_id}/programs", response=ProgramLog)
def programs_get(request: HttpRequest, episode_id: UUID, after: Annotated[int, Field(ge=0)] = 0) -> ProgramLog:
    """A page of the messages that the annotator's programs sent to the episode's browser. Also works after the episode
    ended."""
    selectors.episode_of(user=user_of(request), episode_id=episode_id)
    host = selectors.machine_host_of(episode_id=episode_id)
    if not host:
        return ProgramLog(messages=(), total=0)
    return _query_bridge(lambda bridge: bridge.program_log(host, str(episode_id), after=after))


def _require_steering(request: HttpRequest, episode_id: UUID) -> None:
    """Raises NotFound, and Forbidden for people who may only view the episode."""
    user = user_of(request)
    selectors.episode_of(user=user, episode_id=episode_id)
    if not selectors.episode_access(user=user, episode_id=episode_id).steers:
        raise Forbidden("Only its annotator steers this episode.")


def _lease(episode_id: UUID) -> Lease:
    """The machine's lease. Raises Conflict if the episode has no machine now."""
    stored = selectors.machine_of(episode_id=episode_id).lease
    if not stored:
        raise Conflict("This episode has no machine now.", code="machine_gone")
    return Lease.model_validate_json(stored)


def _query_machine(episode_id: UUID, query_function: Callable[[Machine], Awaitable[R]]) -> R:
    """The machine's answer. Raises Invalid and Conflict with the bridge's own code."""
    lease = _lease(episode_id)
    return _query_bridge(lambda bridge: query_function(bridge.machine(lease)))


def _query_bridge(query_function: Callable[[BridgeClient], Awaitable[R]]) -> R:
    """The bridge's answer. Raises Invalid and Conflict with its own code."""

    async def query() -> R:
        async with BridgeClient(settings.ENV.bridge_url, settings.ENV.bridge_master) as bridge:
            return await query_function(bridge)

    try:
        return async_to_sync(query)()
    except InvalidAction as error:
        raise Invalid(str(error), code=error.code) from error
    except BridgeError as error:
        raise Conflict(str(error), code=error.code) from error
