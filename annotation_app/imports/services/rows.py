"""Rows, many at a time: read, and stored where they are not here yet. Each stands by itself, so that a bad one harms
no other."""

import gc
import json
import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import NAMESPACE_URL, UUID, uuid5

from django.db import DatabaseError, DataError, IntegrityError, transaction

from annotation_app.accounts.services import strangers_ensure
from annotation_app.catalogue.selectors import trajectories_of
from annotation_app.episodes.models import Episode, Source
from annotation_app.episodes.services import IncomingEpisode, episodes_ingest
from annotation_app.imports.folder import Folder, Pictures, Row, digest_of
from annotation_app.imports.models import Import, Refusal
from annotation_app.reviews.selectors.reviewed_trajectories import trajectories_reviewed
from annotation_app.tasks.models import Pool
from annotation_app.tasks.services import pool_ensure
from vocabulary.blobs import BlobRef
from vocabulary.dialects import dialect_named
from vocabulary.formats.incoming import Incoming, Reader, read_row
from vocabulary.formats.record import Choice, Record, RowRefused
from vocabulary.formats.registry import READERS, format_named
from vocabulary.trajectories import Trajectory

NAMESPACE = uuid5(NAMESPACE_URL, "pilothouse/imports")
MOST_STEPS = 1_000
"""What a pool of imports allows: nobody works in it."""
READING = 4
"""Rows that are read at once; what they wait for is the disk, which takes their pictures."""
PROGRAM_LIMIT = "54"
"""The class of PostgreSQL's errors for what is too long for an index or for its search (appendix A of its manual)."""
COPIED_COLUMN = re.compile(r"^COPY \w+, line \d+, (column \w+)")
LONGEST_MESSAGE = 2_000
LONGEST_FILE = 4_096


@dataclass(frozen=True)
class Read:
    """A row that was read: by which format's reader, and what it holds."""

    row: Row
    reader: Reader
    pictures: Pictures
    trajectory: Trajectory
    digest: str
    """Of the row's values and its pictures."""
    episode_id: UUID


Outcomes = Mapping[Row, int | RowRefused | None]
"""What became of rows: how many steps came in, None where they were here already, or why not."""
Batches = Generator[tuple[Sequence[Row], Sequence[Read | RowRefused]], None, None]


def rows_read(job: Import, folder: Folder, batches: Iterable[Sequence[Row]]) -> Batches:
    """Batches of rows with what was read of each, in order. The next batch is read, and its pictures are written to the
    disk, while the caller stores this one. Raises OSError where a disk or a bucket fails."""
    readers = ThreadPoolExecutor(READING, thread_name_prefix="import")
    try:
        ahead: tuple[Sequence[Row], list[Future[Read | RowRefused]]] | None = None
        for rows in batches:
            following = rows, [readers.submit(_read_or_refused, job, folder, row) for row in rows]
            if ahead is not None:
                yield ahead[0], [future.result() for future in ahead[1]]
            ahead = following
        if ahead is not None:
            yield ahead[0], [future.result() for future in ahead[1]]
    finally:
        readers.shutdown(cancel_futures=True)


def rows_store(job: Import, rows: Sequence[Row], read: Sequence[Read | RowRefused]) -> None:
    """Store rows that were read, and count on the job what became of each. Runs inside the caller's transaction. Raises
    OSError."""
    outcomes: dict[Row, int | RowRefused | None] = {}
    for row, one in zip(rows, read, strict=True):
        if isinstance(one, RowRefused):
            outcomes[row] = one
    for group in _groups([one for one in read if isinstance(one, Read)]):
        outcomes.update(_stored(job, group))
    refusals = []
    for row in rows:
        outcome = outcomes[row]
        if isinstance(outcome, RowRefused):
            refusals.append(_refusal(job, row, outcome))
        else:
            job.imported += outcome is not None
            job.known += outcome is None
            job.steps += outcome or 0
    Refusal.objects.bulk_create(refusals)
    job.refused += len(refusals)


@contextmanager
def collection_paused() -> Iterator[None]:
    """No cyclic garbage is looked for meanwhile: each search scans the whole batch, none of which is garbage yet."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def _refusal(job: Import, row: Row, refused: RowRefused) -> Refusal:
    said = str(refused).replace("\x00", "�").encode(errors="replace").decode()
    return Refusal(
        of=job, file=row.file[:LONGEST_FILE], line=row.line, code=refused.code, message=said[:LONGEST_MESSAGE]
    )


def _read_or_refused(job: Import, folder: Folder, row: Row) -> Read | RowRefused:
    try:
        return _read(job, folder, row)
    except RowRefused as refused:
        return refused
    except RecursionError:
        return RowRefused("bad_json", "It is nested too deeply.")


def _read(job: Import, folder: Folder, row: Row) -> Read:
    """Raises RowRefused, and OSError where a disk or a bucket fails."""
    if row.fault is not None or row.value is None:
        raise RowRefused(*(row.fault or ("bad_json", "It is no JSON.")))
    reader = _reader(job, row)
    pictures = Pictures(folder, row)
    incoming = Incoming(row=row.value, find=pictures.find, moment=job.created_at, key=digest_of(row, ())[:32])
    trajectory = read_row(reader, incoming)
    digest = digest_of(row, pictures.refs)
    return Read(row, reader, pictures, trajectory, digest, _id_of(trajectory, digest))


def _groups(read: Sequence[Read]) -> Iterator[Sequence[Read]]:
    """The rows in order, in groups in which none is, or has the id of, another."""
    group: list[Read] = []
    seen: set[str | UUID] = set()
    for one in read:
        if not seen.isdisjoint((one.digest, one.episode_id)):
            yield group
            group, seen = [], set()
        group.append(one)
        seen |= {one.digest, one.episode_id}
    if group:
        yield group


def _stored(job: Import, group: Sequence[Read]) -> Outcomes:
    """What became of each of a group. If the database does not take the group, each is tried by itself."""
    pool = job.pool
    try:
        with transaction.atomic():
            return _store(job, group)
    except DatabaseError as error:
        if not _is_of_the_row(error):
            raise
        said = _database_reason(error)
    except (ValueError, TypeError, RecursionError, OverflowError) as error:
        said = f"It cannot be stored: {error}"
    job.pool = pool  # one that was made within is gone
    if len(group) == 1:
        return {group[0].row: RowRefused("not_storable", said)}
    return {row: outcome for one in group for row, outcome in _stored(job, [one]).items()}


def _is_of_the_row(error: DatabaseError) -> bool:
    """Whether the database refuses what it was given; else it is away, or busy."""
    limit = (getattr(error.__cause__, "sqlstate", None) or "").startswith(PROGRAM_LIMIT)
    return limit or isinstance(error, DataError | IntegrityError)


def _database_reason(error: DatabaseError) -> str:
    """What the database says is wrong, and with which column or value."""
    diagnosis = getattr(error.__cause__, "diag", None)
    copied = COPIED_COLUMN.search(getattr(diagnosis, "context", None) or "")
    where = copied[1] if copied else getattr(diagnosis, "message_detail", None)
    return f"The database refuses it: {str(error).splitlines()[0]}{f' ({where})' if where else ''}"


def _store(job: Import, group: Sequence[Read]) -> Outcomes:
    """Store those of a group that are not here yet. Raises what `episodes_ingest` raises."""
    outcomes: dict[Row, int | RowRefused | None] = {}
    digests = Source.objects.filter(digest__in=[one.digest for one in group])
    known = set(digests.values_list("digest", flat=True))
    taken = set(Episode.objects.filter(pk__in=[one.episode_id for one in group]).values_list("pk", flat=True))
    fresh: list[tuple[Read, tuple[BlobRef, ...]]] = []
    for one in group:
        try:
            if one.digest in known or (one.episode_id in taken and _is_told(one)):
                outcomes[one.row] = None
            else:
                fresh.append((one, one.pictures.kept(one.trajectory)))
        except RowRefused as refused:
            outcomes[one.row] = refused
    if fresh:
        _arrive(job, fresh)
    return outcomes | {one.row: len(one.trajectory.steps) for one, _ in fresh}


def _arrive(job: Import, fresh: Sequence[tuple[Read, tuple[BlobRef, ...]]]) -> None:
    pool = _pool(job, fresh[0][0].trajectory)
    people = strangers_ensure({one.trajectory.annotator for one, _ in fresh})
    incoming_episodes = [
        IncomingEpisode(
            episode_id=one.episode_id,
            digest=one.digest,
            annotator=people[one.trajectory.annotator],
            trajectory=one.trajectory,
            blobs=blobs,
        )
        for one, blobs in fresh
    ]
    episodes_ingest(import_id=job.id, pool=pool, incoming_episodes=incoming_episodes)


def _reader(job: Import, row: Row) -> Reader:
    """The reader of a row's format. Raises RowRefused."""
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


def _is_told(one: Read) -> bool:
    """Whether the episode of this id that is here would be told by this very row. Raises RowRefused."""
    form, choice = format_named(one.reader.name), Choice(dialect=dialect_named("ui_tars_1_5"))
    for trajectory in trajectories_reviewed(trajectories_of([one.episode_id])):
        for record in form.records(trajectory, choice):
            if isinstance(record, Record) and any(json.loads(line) == one.row.value for line in record.lines.values()):
                return True
    raise RowRefused("id_taken", f"There is another trajectory {one.episode_id} here.")


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
