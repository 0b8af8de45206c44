"""A person's page of the recorder, and what their recorder calls with its token."""

from typing import Annotated
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Path, Router, Status
from pydantic import Field

from annotation_app.accounts.selectors import user_of
from annotation_app.accounts.services import reauthentication_check
from annotation_app.http_api import SessionAuth
from annotation_app.imports import jobs, uploads_api
from annotation_app.imports.schemas import ImportOut, UploadOut
from annotation_app.imports.selectors import RECORDERS, recorder_check, upload_of, upload_out, uploads_list
from annotation_app.recorder import selectors, services
from annotation_app.recorder.schemas import (
    ComputerIn,
    Paired,
    PairIn,
    PairingCode,
    PoolConsentIn,
    RecordedSessionOut,
    RecorderPage,
    RecordingPool,
    SessionState,
    SessionUploadIn,
)
from annotation_app.recorder.tokens import RecorderBearer, token_of
from annotation_app.tasks.services import consent_give

router = Router(tags=["recorder"])
RECORDER_AUTH = (RecorderBearer(), SessionAuth())
UPLOADS = "/recorder/uploads"
RowId = Annotated[int, Path(), Field(ge=1, le=2**31 - 1)]


@router.get("/recorder", response=RecorderPage)
def recorder_page(request: HttpRequest) -> RecorderPage:
    """Your paired computers and your recordings."""
    return selectors.recorder_page(user=user_of(request))


@router.post("/recorder/computers", response=PairingCode)
def computer_add(request: HttpRequest, body: ComputerIn) -> PairingCode:
    """A code that pairs one computer; shown this once."""
    reauthentication_check(request)
    code, computer = services.code_make(user=user_of(request), name=body.name)
    return PairingCode(code=code, expires_at=computer.code_expires_at)


@router.delete("/recorder/computers/{computer_id}", response={204: None})
def computer_revoke(request: HttpRequest, computer_id: RowId) -> Status[None]:
    """End a pairing, or a code that was not used."""
    services.computer_revoke(user=user_of(request), computer_id=computer_id)
    return Status(204, None)


@router.delete("/recorder/recordings/{uuid:session_id}", response=RecordedSessionOut)
def recording_delete(request: HttpRequest, session_id: UUID) -> RecordedSessionOut:
    """Delete a recording without a review."""
    return selectors.session_out(services.session_delete(user=user_of(request), session_id=session_id))


@router.post("/recorder/recordings/{uuid:session_id}/withdrawal", response=RecordedSessionOut)
def recording_withdraw(request: HttpRequest, session_id: UUID) -> RecordedSessionOut:
    """Take back the consent to a recording: no export and no training has it from now on."""
    return selectors.session_out(services.session_withdraw(user=user_of(request), session_id=session_id))


@router.post("/recorder/pairing", auth=None, response=Paired)
def computer_pair(request: HttpRequest, body: PairIn) -> Paired:
    """Exchange a code for the recorder's own token; called by the recorder."""
    return services.computer_pair(wanted=body, address=request.META.get("REMOTE_ADDR", ""))


@router.delete("/recorder/pairing", auth=RECORDER_AUTH, response={204: None})
def computer_unpair(request: HttpRequest) -> Status[None]:
    """End the pairing whose token this is; called by the recorder."""
    services.computer_unpair(user=user_of(request), secret=token_of(request))
    return Status(204, None)


@router.get("/recorder/pools", auth=RECORDER_AUTH, response=list[RecordingPool])
def recording_pools(request: HttpRequest) -> list[RecordingPool]:
    """The pools that take your recordings, with their briefs."""
    return selectors.pools_for_recordings(user=user_of(request))


@router.post("/recorder/pools/{pool_id}/consent", auth=RECORDER_AUTH, response={204: None})
def recording_pool_consent(request: HttpRequest, pool_id: RowId, body: PoolConsentIn) -> Status[None]:
    """Agree to a pool's terms."""
    user = user_of(request)
    recorder_check(user)
    consent_give(user=user, pool_id=pool_id, version=body.version)
    return Status(204, None)


@router.get("/recorder/recordings/{uuid:session_id}", auth=RECORDER_AUTH, response=SessionState)
def recording_state(request: HttpRequest, session_id: UUID) -> SessionState:
    """The state of one of your recordings. A recorder asks for it before it changes what was uploaded."""
    found = selectors.session_out(selectors.session_of(user=user_of(request), session_id=session_id))
    return SessionState(state=found.state, deleted_at=found.deleted_at)


@router.get(UPLOADS, auth=RECORDER_AUTH, response=list[UploadOut])
def session_uploads(request: HttpRequest) -> list[UploadOut]:
    """Your unfinished uploads of recordings, the newest first."""
    return uploads_list(user=user_of(request), access=RECORDERS)


@router.post(UPLOADS, auth=RECORDER_AUTH, response={201: UploadOut})
def session_upload_create(request: HttpRequest, response: HttpResponse) -> Status[UploadOut]:
    """Announce a recording (`Upload-Length`, `Upload-Metadata`); `Location` is where its parts go."""
    user = user_of(request)
    recorder_check(user)
    size, wish = uploads_api.announcement(request, SessionUploadIn)
    upload = services.session_upload_create(
        user=user, size=size, wish=wish, computer=selectors.computer_with_token(token_of(request))
    )
    return uploads_api.created(response, upload_out(upload), f"/api{UPLOADS}")


@router.api_operation(["HEAD"], UPLOADS + "/{uuid:session_upload_id}", auth=RECORDER_AUTH, response={200: None})
def session_upload_head(request: HttpRequest, response: HttpResponse, session_upload_id: UUID) -> Status[None]:
    """Where the next part begins: `Upload-Offset`."""
    upload = upload_of(user=user_of(request), upload_id=session_upload_id, access=RECORDERS)
    return uploads_api.offset_shown(response, upload_out(upload))


@router.patch(UPLOADS + "/{uuid:session_upload_id}", auth=RECORDER_AUTH, response={204: None})
def session_upload_append(request: HttpRequest, response: HttpResponse, session_upload_id: UUID) -> Status[None]:
    """One part, which begins at `Upload-Offset`. A part that arrived before changes nothing."""
    return uploads_api.part_appended(request, response, session_upload_id, RECORDERS)


@router.delete(UPLOADS + "/{uuid:session_upload_id}", auth=RECORDER_AUTH, response={204: None})
def session_upload_cancel(request: HttpRequest, response: HttpResponse, session_upload_id: UUID) -> Status[None]:
    """Forget an upload and the parts that arrived."""
    return uploads_api.cancelled(request, response, session_upload_id, RECORDERS)


@router.post(UPLOADS + "/{uuid:session_upload_id}/import", auth=RECORDER_AUTH, response={202: ImportOut})
def session_upload_import(request: HttpRequest, session_upload_id: UUID) -> Status[ImportOut]:
    """Import a complete upload in the background. Repeating it is safe."""
    user = user_of(request)
    return Status(202, jobs.import_uploaded(user=user, upload_id=session_upload_id, pool="", form="", access=RECORDERS))


@router.get("/recorder/imports/{uuid:session_import_id}", auth=RECORDER_AUTH, response=ImportOut)
def session_import(request: HttpRequest, session_import_id: UUID) -> ImportOut:
    """How far the import of one of your recordings is."""
    return selectors.session_import(user=user_of(request), import_id=session_import_id)
