"""Exports over HTTP, for researchers and admins."""

from uuid import UUID

from django.http import HttpRequest, StreamingHttpResponse
from ninja import Router, Status

from annotation_app.accounts.selectors import user_of
from annotation_app.exports import archive, jobs, selectors
from annotation_app.exports.schemas import ExportFilters, ExportOut
from vocabulary.base import Frozen

router = Router(tags=["exports"])


class ExportIn(Frozen):
    """What to export; without a pool, all pools."""

    pool_id: int | None = None
    filters: ExportFilters = ExportFilters()


@router.get("/exports", response=list[ExportOut])
def exports_list(request: HttpRequest) -> list[ExportOut]:
    """The newest hundred."""
    return selectors.exports_list(user=user_of(request))


@router.post("/exports", response={202: ExportOut})
def export_request(request: HttpRequest, body: ExportIn) -> Status[ExportOut]:
    """Ask for one; it is written in the background."""
    return Status(202, jobs.export_start(user=user_of(request), pool_id=body.pool_id, filters=body.filters))


@router.get("/exports/{uuid:export_id}", response=ExportOut)
def export_get(request: HttpRequest, export_id: UUID) -> ExportOut:
    """How far it is."""
    return selectors.export_out(selectors.export_of(user=user_of(request), export_id=export_id))


@router.get("/exports/{uuid:export_id}/download", response={200: None})
def export_download(request: HttpRequest, export_id: UUID) -> StreamingHttpResponse:
    """The whole folder as one zip file."""
    folder = selectors.export_folder_of(user=user_of(request), export_id=export_id)
    return StreamingHttpResponse(
        archive.zip_stream(folder),
        content_type="application/zip",
        headers={"Content-Disposition": f'attachment; filename="pilothouse-{export_id}.zip"'},
    )
