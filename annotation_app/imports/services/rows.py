"""Rows, one after another: read, and stored where they are not here yet. Each stands by itself, so that a bad one harms
no other."""

import json
from uuid import NAMESPACE_URL, UUID, uuid5

from django.db import DataError, IntegrityError, transaction

from annotation_app.accounts.services import stranger_ensure
from annotation_app.catalogue.selectors import trajectories_of
from annotation_app.episodes.models import Episode, Source
from annotation_app.episodes.services import Arrival, episode_arrive
from annotation_app.imports.folder import Folder, Pictures, Row, digest_of
from annotation_app.imports.models import Import, Refusal
from annotation_app.reviews.selectors.views import trajectories_reviewed
from annotation_app.tasks.models import Pool
from annotation_app.tasks.services import pool_ensure
from vocabulary.dialects import dialect_named
from vocabulary.formats.incoming import Incoming, Reader
from vocabulary.formats.record import Choice, RowRefused
from vocabulary.formats.registry import READERS, format_named
from vocabulary.trajectories import Trajectory

NAMESPACE = uuid5(NAMESPACE_URL, "pilothouse/imports")
MOST_STEPS = 1_000
"""What a pool of imports allows: nobody works in it."""


def row_take(job: Import, folder: Folder, row: Row) -> None:
    """Take one row in, and count on the job what became of it. Runs inside the caller's transaction. Raises OSError."""
    try:
        with transaction.atomic():
            steps = _stored(job, folder, row)
    except RowRefused as refused:
        _refuse(job, row, refused.code, str(refused))
    except (DataError, IntegrityError) as error:
        _refuse(job, row, "not_storable", f"The database refuses it: {str(error).splitlines()[0]}")
    else:
        job.imported += steps is not None
        job.known += steps is None
        job.steps += steps or 0


def _refuse(job: Import, row: Row, code: str, message: str) -> None:
    said = message.replace("\x00", "�")[:2_000]
    Refusal.objects.create(of=job, file=row.file[:4096], line=row.line, code=code, message=said)
    job.refused += 1


def _stored(job: Import, folder: Folder, row: Row) -> int | None:
    """How many steps came in; None for a trajectory that is here already. Raises RowRefused."""
    if row.fault is not None or row.value is None:
        raise RowRefused(*(row.fault or ("bad_json", "It is no JSON.")))
    reader = _reader(job, row)
    pictures = Pictures(folder, row)
    incoming = Incoming(row=row.value, find=pictures.find, moment=job.created_at, key=digest_of(row, ())[:32])
    trajectory = reader.read(incoming)
    digest = digest_of(row, pictures.refs)
    if Source.objects.filter(digest=digest).exists():
        return None
    episode_id = _id_of(trajectory, digest)
    if Episode.objects.filter(pk=episode_id).exists():
        if _tells(episode_id, reader.name, row):
            return None
        raise RowRefused("id_taken", f"There is another trajectory {episode_id} here.")
    coming = Arrival(
        arrival=job.id,
        digest=digest,
        pool=_pool(job, trajectory),
        annotator=stranger_ensure(pseudonym=trajectory.annotator),
        trajectory=trajectory,
        blobs=pictures.kept(trajectory),
    )
    episode_arrive(episode_id=episode_id, coming=coming)
    return len(trajectory.steps)


def _reader(job: Import, row: Row) -> Reader:
    """Who reads a row. Raises RowRefused."""
    assert row.value is not None
    known = [reader for reader in READERS.values() if reader.recognises(row.value)]
    if not known:
        raise RowRefused("unknown_format", f"It is none of {', '.join(READERS)}.")
    if job.format and known[0].name != job.format:
        raise RowRefused("other_format", f"It is {known[0].name}, and {job.format} was asked for.")
    return known[0]


def _id_of(trajectory: Trajectory, digest: str) -> UUID:
    """The id it has, where that is one of ours; else one that goes by its content."""
    try:
        return UUID(trajectory.id)
    except ValueError:
        return uuid5(NAMESPACE, digest)


def _tells(episode_id: UUID, name: str, row: Row) -> bool:
    """Whether the episode that is here would be told by this very row."""
    form, choice = format_named(name), Choice(dialect=dialect_named("ui_tars_1_5"))
    for trajectory in trajectories_reviewed(trajectories_of([episode_id])):
        for record in form.records(trajectory, choice):
            if any(json.loads(line) == row.value for line in record.lines.values()):
                return True
    return False


def _pool(job: Import, trajectory: Trajectory) -> Pool:
    """The pool of what comes in, made when there is something; it gives out no tasks."""
    if job.pool is None:
        job.pool = pool_ensure(
            name=job.pool_name,
            members=[],
            description=f"Imported: {job.name}",
            platform=trajectory.task.platform,
            max_steps=MOST_STEPS,
            paused=True,
        )
    return Pool.objects.select_for_update().get(pk=job.pool.pk)
