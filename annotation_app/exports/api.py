"""HTTP routes of exports, for researchers and admins."""

from typing import Annotated
from uuid import UUID

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from ninja import Path, Router, Status
from pydantic import Field

from annotation_app.accounts.selectors import user_of
from annotation_app.accounts.tokens import TOKEN_OR_SESSION_AUTH
from annotation_app.exports import jobs, selectors, services, zip_stream
from annotation_app.exports.schemas import (
    Bucket,
    ExportFilters,
    ExportOut,
    ExportPlan,
    FormatOut,
    VersionIn,
    VersionOut,
)
from annotation_app.http_api import ShortText
from protocol.base import FrozenModel

router = Router(tags=["exports"], auth=TOKEN_OR_SESSION_AUTH)
Number = Annotated[int, Path(), Field(ge=1, le=2**31 - 1)]


class ExportIn(FrozenModel):
    """What to export; without a pool, all pools."""

    pool_id: int | None = None
    filters: ExportFilters = ExportFilters()
    plan: ExportPlan = ExportPlan()
    destination: Bucket | None = None
    """Where it is pushed to when it is written; for admins."""


@router.get("/exports", response=list[ExportOut])
def exports_list(request: HttpRequest) -> list[ExportOut]:
    """The newest hundred."""
    return selectors.exports_list(user=user_of(request))


@router.post("/exports", response={202: ExportOut})
def export_request(request: HttpRequest, body: ExportIn) -> Status[ExportOut]:
    """Ask for one; it is written in the background."""
    started = jobs.export_start(
        user=user_of(request),
        pool_id=body.pool_id,
        filters=body.filters,
        plan=body.plan,
        destination=body.destination or "",
    )
    return Status(202, started)


@router.get("/export-formats", response=list[FormatOut])
def export_formats(request: HttpRequest) -> list[FormatOut]:
    """What an export can be written as."""
    return list(selectors.formats_list(user=user_of(request)))


@router.post("/exports/{uuid:export_id}/cancel", response={204: None})
def export_cancel(request: HttpRequest, export_id: UUID) -> Status[None]:
    """Stop it; what was written is kept for a retry."""
    services.export_cancel(user=user_of(request), export_id=export_id)
    return Status(204, None)


@router.post("/exports/{uuid:export_id}/retry", response={202: ExportOut})
def export_retry(request: HttpRequest, export_id: UUID) -> Status[ExportOut]:
    """Take up one that failed or was cancelled, from where it was."""
    return Status(202, jobs.export_resume(user=user_of(request), export_id=export_id))


@router.get("/exports/{uuid:export_id}", response=ExportOut)
def export_get(request: HttpRequest, export_id: UUID) -> ExportOut:
    """How far it is."""
    return selectors.export_out(selectors.export_of(user=user_of(request), export_id=export_id))


@router.get("/exports/{uuid:export_id}/download", response={200: None, 206: None, 416: None})
def export_download(request: HttpRequest, export_id: UUID) -> HttpResponseBase:
    """The whole folder as one zip file. Its ETag is the manifest's SHA-256; a broken download resumes (`Range`)."""
    folder, sha256 = selectors.finished_export_folder(user=user_of(request), export_id=export_id)
    zipped, tag = zip_stream.create_zip(folder), f'"{sha256}"'
    same = request.headers.get("If-Range", tag) == tag
    begin = zip_stream.range_start(request.headers.get("Range")) if same else None
    size = len(zipped)
    if begin is not None and begin >= size:
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{size}"})
    headers = {
        "Content-Disposition": f'attachment; filename="pilothouse-{export_id}.zip"',
        "Content-Length": str(size - (begin or 0)),
        "Accept-Ranges": "bytes",
        "ETag": tag,
    }
    if begin is not None:
        headers["Content-Range"] = f"bytes {begin}-{size - 1}/{size}"
    return StreamingHttpResponse(
        zip_stream.stream_zip(zipped, begin or 0),
        status=200 if begin is None else 206,
        content_type="application/zip",
        headers=headers,
    )


class TrainedIn(FrozenModel):
    """A revision that was trained from a version."""

    policy: ShortText
    revision: ShortText


@router.get("/datasets", response=list[VersionOut])
def datasets_list(request: HttpRequest) -> list[VersionOut]:
    """Every dataset version."""
    return list(selectors.versions_list(user=user_of(request)))


@router.post("/exports/{uuid:export_id}/freeze", response={201: VersionOut})
def export_freeze(request: HttpRequest, export_id: UUID, body: VersionIn) -> Status[VersionOut]:
    """Make a finished export a dataset version that can be cited."""
    version = services.version_freeze(user=user_of(request), export_id=export_id, name=body.name, notes=body.notes)
    return Status(201, selectors.version_out(version))


@router.post("/datasets/{name}/{version}/trained", response=VersionOut)
def dataset_trained(request: HttpRequest, name: str, version: Number, body: TrainedIn) -> VersionOut:
    """Note which revision was trained from a version."""
    trained = services.lineage_add(
        user=user_of(request), name=name, number=version, policy=body.policy, revision=body.revision
    )
    return selectors.version_out(trained)
