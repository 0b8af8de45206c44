"""Background jobs of imports."""

from typing import IO, Any
from uuid import UUID

from annotation_app.celery import app
from annotation_app.imports import selectors, services
from annotation_app.imports.schemas import ImportOut


@app.task(name="imports.run")
def import_run_job(import_id: str) -> None:
    """Take one import in; running it again does no harm."""
    services.import_run(import_id=UUID(import_id))


@app.task(name="imports.again")
def imports_requeue_job() -> None:
    """Have imports taken in whose worker died or never heard of them."""
    for import_id in services.imports_requeue_stale():
        import_run_job.delay(str(import_id))


def import_start(*, user: Any, name: str, file: IO[bytes], size: int, pool: str, form: str) -> ImportOut:
    """Keep an upload and have it taken in. Raises Forbidden, TooLarge and Conflict."""
    job = services.import_request(user=user, name=name, file=file, size=size, pool=pool, form=form)
    import_run_job.delay(str(job.id))
    return selectors.import_out(job)


def import_resume(*, user: Any, import_id: UUID) -> ImportOut:
    """Take up a failed or cancelled import again. Raises Forbidden, NotFound and Conflict."""
    services.import_retry(user=user, import_id=import_id)
    import_run_job.delay(str(import_id))
    return selectors.import_out(selectors.import_of(user=user, import_id=import_id))


def import_uploaded(
    *, user: Any, upload_id: UUID, pool: str, form: str, access: selectors.UploadAccess = selectors.IMPORTERS
) -> ImportOut:
    """Have a complete upload imported. Raises Forbidden, NotFound, Conflict and OSError."""
    job = services.upload_finish(user=user, upload_id=upload_id, pool=pool, form=form, access=access)
    import_run_job.delay(str(job.id))
    return selectors.import_out(job)


@app.task(name="imports.uploads_expire")
def uploads_expire_job() -> None:
    """Remove uploads that got no part for too long."""
    services.uploads_expire()
