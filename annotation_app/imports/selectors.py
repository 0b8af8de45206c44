"""Reading import jobs."""

from pathlib import Path
from uuid import UUID

from django.conf import settings

from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.errors import NotFound
from annotation_app.imports.models import Import
from annotation_app.imports.schemas import ImportOut, RefusalOut, RefusalPage

LISTED = 100
PAGE = 100


def importer_check(user: User) -> None:
    """Raises Forbidden for all but researchers and admins."""
    role_check(user, Role.RESEARCHER, Role.ADMIN)


def import_of(*, user: User, import_id: UUID) -> Import:
    """One job. Raises Forbidden and NotFound."""
    importer_check(user)
    found = Import.objects.select_related("requested_by").filter(pk=import_id).first()
    if found is None:
        raise NotFound("There is no such import.")
    return found


def imports_list(*, user: User) -> list[ImportOut]:
    """The newest jobs. Raises Forbidden."""
    importer_check(user)
    return [import_out(one) for one in Import.objects.select_related("requested_by")[:LISTED]]


def import_out(job: Import) -> ImportOut:
    """A job as it is shown."""
    return ImportOut(
        id=job.id,
        name=job.name,
        format=job.format,
        pool_id=job.pool_id,
        pool=job.pool_name,
        status=job.status,
        progress=job.progress,
        imported=job.imported,
        steps=job.steps,
        known=job.known,
        refused=job.refused,
        code=job.code,
        error=job.error,
        requested_by=job.requested_by.username if job.requested_by else None,
        created_at=job.created_at,
        finished_at=job.finished_at,
    )


def refusals_page(*, user: User, import_id: UUID, after: int = 0) -> RefusalPage:
    """Rows that did not come in, in order. Raises Forbidden and NotFound."""
    rows = list(import_of(user=user, import_id=import_id).refusals.filter(pk__gt=after)[: PAGE + 1])
    items = (RefusalOut(file=row.file, line=row.line, code=row.code, message=row.message) for row in rows[:PAGE])
    return RefusalPage(items=tuple(items), next=rows[PAGE - 1].pk if len(rows) > PAGE else None)


def import_folder(import_id: UUID) -> Path:
    """Where an upload lies while it is taken in."""
    folder: Path = settings.ENV.data / "imports" / str(import_id)
    return folder
