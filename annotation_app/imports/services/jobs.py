"""Import jobs: requested, run, cancelled, resumed."""

import gc
import hashlib
import itertools
import shutil
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import IO, Literal
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from annotation_app.accounts.models import User
from annotation_app.audit.services import audit_record
from annotation_app.blobs.services import blob_deletion_paused
from annotation_app.errors import Conflict, TooLarge, storage_code
from annotation_app.heartbeats import abandoned_jobs, heartbeat
from annotation_app.imports.archives import InvalidImport, safe_path, unpack_archive
from annotation_app.imports.models import Import, ImportState
from annotation_app.imports.selectors import import_folder, import_of, importer_check
from annotation_app.imports.services.rows import ParsedBatches, gc_paused, parse_batches, store_rows
from annotation_app.imports.source_folder import LocatedRow, SourceFolder
from annotation_app.notifications.services.notices import notice_create
from annotation_app.notifications.services.webhooks import event_emit
from annotation_app.notifications.webhook_events import ImportEnded
from annotation_app.tasks.models import Pool
from protocol.trajectory.export_folders import UNFINISHED_SUFFIX

UPLOAD_RETENTION = timedelta(days=7)
"""How long the upload of an import that failed or was cancelled is kept, so that it can be taken up again."""
MAX_ATTEMPTS = 3
BATCH_ROWS = 100
"""Rows that come in together: what a worker that was killed does again."""
GC_BATCHES = 10
"""After so many batches cyclic garbage is collected; each collection goes through all rows that are in memory."""
BATCH_BYTES = 8 * 2**20
"""Rows that come in together have at most so many bytes, unless one alone has more."""
WHOLE_FILE_BYTES = 32 * 2**20
"""Largest file that is sent in one request; larger ones are uploaded in parts."""
MAX_UNPACKED_RATIO = 4
"""How many times its bound an upload may have when it is unpacked."""
ACTIVE_STATES = (ImportState.QUEUED, ImportState.RUNNING)
ALL_REJECTED_CODE = "all_refused"
PROGRESS_FIELDS = ("file", "offset", "line", "imported", "steps", "known", "refused", "pool", "progress", "heard_at")


class ImportStopped(Exception):
    """It was cancelled, or another worker is at it."""


def import_request(*, user: User, name: str, file: IO[bytes], size: int, pool: str = "", form: str = "") -> Import:
    """Keep an upload that is to be taken in. Raises Forbidden, TooLarge, Conflict and OSError."""
    importer_check(user)
    most = min(settings.ENV.import_limit, WHOLE_FILE_BYTES)
    if size > most:
        raise TooLarge(f"A file in one request may have {most} bytes. Upload it in parts: /api/imports/uploads.")
    title = display_name(name)
    job = Import(name=title, format=form, pool_name=choose_pool_name(pool, title), requested_by=user)
    folder = import_folder(job.id)
    folder.mkdir(parents=True)
    try:
        aside = folder / f"upload{UNFINISHED_SUFFIX}"
        with aside.open("wb") as output_file:
            shutil.copyfileobj(file, output_file, 1 << 20)
        aside.rename(folder / "upload")
        with transaction.atomic(durable=True):
            job.save(force_insert=True)
            details = {"name": title, "pool": job.pool_name, "format": form}
            audit_record(actor=user, verb="import.requested", subject=f"import:{job.id}", details=details)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return job


def import_folder_run(*, folder: Path, pool: str = "", form: str = "") -> Import:
    """Take a folder or file of this machine in, here and now; how it went. Raises Conflict."""
    title = display_name(folder.name)
    job = Import.objects.create(
        name=title, folder=str(folder.resolve()), format=form, pool_name=choose_pool_name(pool, title)
    )
    details = {"folder": job.folder}
    audit_record(actor=None, part="command", verb="import.requested", subject=f"import:{job.id}", details=details)
    import_run(import_id=job.id)
    job.refresh_from_db()
    return job


@transaction.atomic(durable=True)
def import_cancel(*, user: User, import_id: UUID) -> None:
    """Stop an import; what came in stays, and one that has ended is left as it is. Raises Forbidden and NotFound."""
    job = import_of(user=user, import_id=import_id)
    under_way = Import.objects.filter(pk=import_id, status__in=ACTIVE_STATES)
    if under_way.update(status=ImportState.CANCELLED, finished_at=timezone.now()):
        audit_record(actor=user, verb="import.cancelled", subject=f"import:{job.id}", details={})


@transaction.atomic(durable=True)
def import_retry(*, user: User, import_id: UUID) -> None:
    """Take up a failed or cancelled import from where it was. Raises Forbidden, NotFound, Conflict."""
    job = import_of(user=user, import_id=import_id)
    if not job.folder and not import_folder(job.id).exists():
        raise Conflict("Its upload is not kept any more; upload it again.", code="upload_gone")
    ended = Import.objects.filter(pk=import_id, status__in=(ImportState.FAILED, ImportState.CANCELLED))
    reset: dict[str, object] = {"attempts": 0, "heard_at": timezone.now(), "finished_at": None, "error": "", "code": ""}
    if job.code == ALL_REJECTED_CODE:  # from the start: a newer release may read what this one did not
        reset |= {"file": "", "offset": 0, "line": 0, "refused": 0, "progress": 0}
        job.refusals.all().delete()
    if not ended.update(status=ImportState.QUEUED, **reset):
        raise Conflict("Only an import that failed or was cancelled is taken up again.", code="not_ended")
    audit_record(actor=user, verb="import.retried", subject=f"import:{import_id}", details={})


def import_run(*, import_id: UUID) -> None:
    """Take a queued import in, and say how it went; one that is done, or being taken in, is left as it is."""
    queued = Import.objects.filter(pk=import_id, status=ImportState.QUEUED)
    if not queued.update(status=ImportState.RUNNING, attempts=F("attempts") + 1, heard_at=timezone.now()):
        return
    job = Import.objects.select_related("pool").get(pk=import_id)
    claimed = Import.objects.filter(pk=job.pk, status=ImportState.RUNNING, attempts=job.attempts)
    try:
        with heartbeat(claimed):
            folder = SourceFolder(_unpack_upload(job))
            if not folder.files:
                raise InvalidImport("no_rows", "It holds no file of rows (.jsonl, or .json for a single trajectory).")
            with blob_deletion_paused():  # retention deletes no picture between its writing and its row
                _import_rows(job, folder)
            _check_any_imported(job)
    except ImportStopped:
        return
    except InvalidImport as error:
        _finish(job, status=ImportState.FAILED, code=error.code, error=str(error))
    except OSError as error:
        reason = error.strerror or str(error)
        _finish(job, status=ImportState.FAILED, code=storage_code(error), error=reason)
    else:
        _finish(job, status=ImportState.DONE, progress=1)
        shutil.rmtree(import_folder(job.id), ignore_errors=True)


@transaction.atomic(durable=True)
def imports_requeue_stale() -> tuple[UUID, ...]:
    """Imports nobody works on, queued again; one that broke every attempt has failed. Which are to be run. Uploads that
    nobody took up again are removed."""
    now = timezone.now()
    stale = abandoned_jobs(Import.objects.all())
    exhausted = stale.filter(attempts__gte=MAX_ATTEMPTS)
    for job in exhausted.select_for_update(skip_locked=True, of=("self",)):
        job.status, job.finished_at = ImportState.FAILED, now
        job.code, job.error = "broke_off", f"It broke off {MAX_ATTEMPTS} times."
        job.save(update_fields=["status", "finished_at", "code", "error"])
        _notify(job)
    requeued = tuple(stale.select_for_update(skip_locked=True).values_list("pk", flat=True))
    Import.objects.filter(pk__in=requeued).update(status=ImportState.QUEUED, heard_at=now)
    expired = Import.objects.filter(
        status__in=(ImportState.FAILED, ImportState.CANCELLED),
        finished_at__lt=now - UPLOAD_RETENTION,
        finished_at__gte=now - 2 * UPLOAD_RETENTION,
    )
    for key in expired.values_list("pk", flat=True):
        shutil.rmtree(import_folder(key), ignore_errors=True)
    return requeued


def _unpack_upload(job: Import) -> Path:
    """The folder of a job's rows; an upload is unpacked once. Raises InvalidImport and OSError."""
    if job.folder:
        if not Path(job.folder).exists():
            raise InvalidImport("folder_gone", "The folder is not there.")
        return Path(job.folder)
    home = import_folder(job.id)
    target = home / "unpacked"
    if not target.exists():
        _check_digest(job, home / "upload")
        unpack_archive(home / "upload", target, most=settings.ENV.import_limit * MAX_UNPACKED_RATIO)
    return target


def _check_digest(job: Import, upload: Path) -> None:
    """Raises InvalidImport where the upload is not the file that was announced."""
    if not job.sha256:
        return
    with upload.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != job.sha256:
        raise InvalidImport("upload_damaged", "The file that arrived is not the one that was sent. Upload it again.")


def _check_any_imported(job: Import) -> None:
    """Raises InvalidImport where nothing came in and nothing was here."""
    if job.imported or job.known:
        return
    first = job.refusals.first()
    if first is None:
        raise InvalidImport("no_rows", "It holds no row: a line of JSON, or a .json file that is one trajectory.")
    first_refusal = f"{first.file}, line {first.line}: {first.message}"
    raise InvalidImport(
        ALL_REJECTED_CODE, f"None of the {job.refused} rows came in. The first: {first_refusal[:1_000]}"
    )


def _import_rows(job: Import, folder: SourceFolder) -> None:
    """Every row after the place the job has come to. Raises ImportStopped and OSError."""
    whole = max(folder.size, 1)
    claimed = Import.objects.filter(pk=job.pk, status=ImportState.RUNNING, attempts=job.attempts)
    batches = parse_batches(job, folder, _batches(folder.rows(job.file, job.offset, job.line)))
    with closing(batches), gc_paused():
        for number in itertools.count(1):
            if not _import_batch(job, folder, claimed, batches, whole):
                break
            if number % GC_BATCHES == 0:
                gc.collect()


def _import_batch(
    job: Import, folder: SourceFolder, claimed: QuerySet[Import], batches: ParsedBatches, whole: int
) -> bool:
    """Take one batch in; whether there was one."""
    rows, read = next(batches, ((), ()))
    if not rows:
        return False
    with transaction.atomic(durable=True):
        if not claimed.select_for_update().exists():
            raise ImportStopped
        store_rows(job, rows, read)
        job.file, job.offset, job.line = rows[-1].file, rows[-1].end, rows[-1].line
        job.progress = min(1.0, (folder.bytes_before(job.file) + job.offset) / whole)
        job.heard_at = timezone.now()
        job.save(update_fields=PROGRESS_FIELDS)
    return True


def _batches(rows: Iterable[LocatedRow]) -> Iterator[list[LocatedRow]]:
    batch: list[LocatedRow] = []
    size = 0
    for row in rows:
        if batch and (len(batch) >= BATCH_ROWS or size + row.end - row.start > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(row)
        size += row.end - row.start
    if batch:
        yield batch


@transaction.atomic
def _finish(job: Import, **fields: object) -> None:
    claimed = Import.objects.filter(pk=job.pk, status=ImportState.RUNNING, attempts=job.attempts)
    if claimed.update(finished_at=timezone.now(), **fields):
        job.refresh_from_db()
        _notify(job)


def _notify(job: Import) -> None:
    """Say to programs and to who asked for it how it went, in the transaction in which it ends."""
    kind: Literal["import.finished", "import.failed"]
    kind = "import.finished" if job.status == ImportState.DONE else "import.failed"
    counts = {"imported": job.imported, "known": job.known, "refused": job.refused}
    event_emit(ImportEnded(kind=kind, id=str(job.pk), status=job.status, **counts, code=job.code))
    if job.requested_by is not None:
        details = {**counts, "reason": job.error}
        notice_create(user=job.requested_by, kind=kind, subject=f"import:{job.pk}", details=details)


def display_name(name: str) -> str:
    """A file's name as it is shown, whatever a browser sent."""
    try:
        return safe_path(name).name[:200]
    except InvalidImport:
        return "upload"


def choose_pool_name(requested: str, file: str) -> str:
    """What the pool of what comes in is called. Raises Conflict for one that people work in."""
    name = requested or f"Imported: {file.split('.')[0]}"[:100]
    made_by_imports = Import.objects.filter(session__isnull=True, pool__isnull=False).values("pool")
    if Pool.objects.filter(name=name).exclude(pk__in=made_by_imports).exists():
        raise Conflict("There is a pool of this name that holds no imports; choose another name.", code="pool_taken")
    return name
