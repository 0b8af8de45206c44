"""HTTP routes of imports, for researchers and admins."""

from typing import IO, Annotated, cast
from uuid import UUID

from django.http import HttpRequest
from ninja import File, Form, Query, Router, Status
from ninja.files import UploadedFile
from pydantic import Field

from annotation_app.accounts.selectors import user_of
from annotation_app.accounts.tokens import TOKEN_OR_SESSION_AUTH
from annotation_app.imports import jobs, selectors, services
from annotation_app.imports.schemas import ImportIn, ImportOut, RefusalPage

router = Router(tags=["imports"], auth=TOKEN_OR_SESSION_AUTH)


@router.get("/imports", response=list[ImportOut])
def imports_list(request: HttpRequest) -> list[ImportOut]:
    """The newest hundred."""
    return selectors.imports_list(user=user_of(request))


@router.post("/imports", response={202: ImportOut})
def import_request(
    request: HttpRequest,
    file: Annotated[UploadedFile, File()],
    wish: Annotated[ImportIn, Form()],
) -> Status[ImportOut]:
    """Upload a zip, a tar or lines of trajectories; they are taken in in the background."""
    started = jobs.import_start(
        user=user_of(request),
        name=file.name or "upload",
        file=cast(IO[bytes], file),
        size=file.size or 0,
        pool=wish.pool,
        form=wish.format,
    )
    return Status(202, started)


@router.get("/imports/{uuid:import_id}", response=ImportOut)
def import_get(request: HttpRequest, import_id: UUID) -> ImportOut:
    """How far it is."""
    return selectors.import_out(selectors.import_of(user=user_of(request), import_id=import_id))


@router.get("/imports/{uuid:import_id}/refused", response=RefusalPage)
def import_refused(
    request: HttpRequest, import_id: UUID, after: Annotated[int, Query(), Field(ge=0, le=2**62)] = 0
) -> RefusalPage:
    """The rows that did not come in, each with the reason."""
    return selectors.refusals_page(user=user_of(request), import_id=import_id, after=after)


@router.post("/imports/{uuid:import_id}/cancel", response={204: None})
def import_cancel(request: HttpRequest, import_id: UUID) -> Status[None]:
    """Stop it; what came in stays."""
    services.import_cancel(user=user_of(request), import_id=import_id)
    return Status(204, None)


@router.post("/imports/{uuid:import_id}/retry", response={202: ImportOut})
def import_retry(request: HttpRequest, import_id: UUID) -> Status[ImportOut]:
    """Take up one that failed or was cancelled, from where it was."""
    return Status(202, jobs.import_resume(user=user_of(request), import_id=import_id))
