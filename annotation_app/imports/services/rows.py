"""Rows, many at a time: read, and stored where they are not here yet. Each stands by itself, so that a bad one harms
no other."""

import gc
import json
import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from uuid import NAMESPACE_URL, UUID, uuid5

from django.db import DatabaseError, DataError, IntegrityError, transaction

from annotation_app.accounts.models import User
from annotation_app.accounts.services import external_annotators_ensure
from annotation_app.catalogue.selectors import trajectories_of
from annotation_app.episodes.models import Episode, Source
from annotation_app.episodes.services import IncomingEpisode, episodes_ingest
from annotation_app.imports.models import Import, Refusal
from annotation_app.imports.source_folder import LocatedRow, RowPictures, SourceFolder, digest_row
from annotation_app.reviews.selectors.reviewed_trajectories import trajectories_reviewed
from annotation_app.tasks.models import Pool
from annotation_app.tasks.services import pool_ensure
from protocol.blobs import BlobRef
from protocol.dialects.families import get_dialect
from protocol.formats.records import ExportOptions, Record, RowError
from protocol.formats.registry import FORMATS, READERS
from protocol.formats.row_readers import RowReader, SourceRow, read_row
from protocol.trajectory.trajectories import Trajectory

NAMESPACE = uuid5(NAMESPACE_URL, "pilothouse/imports")
MAX_STEPS = 1_000
"""What a pool of imports allows: nobody works in it."""
READER_THREADS = 4
"""Rows that are read at once; what they wait for is the disk, which takes their pictures."""
PROGRAM_LIMIT_CLASS = "54"
"""The class of PostgreSQL's errors for what is too long for an index or for its search (appendix A of its manual)."""
COPIED_COLUMN_PATTERN = re.compile(r"^COPY \w+, line \d+, (column \w+)")
MAX_MESSAGE_CHARACTERS = 2_000
MAX_FILE_CHARACTERS = 4_096


@dataclass(frozen=True)
class ParsedRow:
    """A row that was read: by which format's reader, and what it holds."""

    row: LocatedRow
    reader: RowReader
    source: SourceRow
    pictures: RowPictures
    trajectory: Trajectory
    digest: str
    """Of the row's values and its pictures."""
    episode_id: UUID


RowOutcomes = Mapping[LocatedRow, int | RowError | None]
"""What became of rows: how many steps came in, None where they were here already, or why not."""
ParsedBatches = Generator[tuple[Sequence[LocatedRow], Sequence[ParsedRow | RowError]], None, None]


def parse_batches(job: Import, folder: SourceFolder, batches: Iterable[Sequence[LocatedRow]]) -> ParsedBatches:
    """Batches of rows with what was read of each, in order. The next batch is read, and its pictures are written to the
    disk, while the caller stores this one. Raises OSError where a disk or a bucket fails."""
    readers = ThreadPoolExecutor(READER_THREADS, thread_name_prefix="import")
    try:
        pending: tuple[Sequence[LocatedRow], list[Future[ParsedRow | RowError]]] | None = None
        for rows in batches:
            parsing = rows, [readers.submit(_parse_or_reject, job, folder, row) for row in rows]
            if pending is not None:
                yield pending[0], [future.result() for future in pending[1]]
            pending = parsing
        if pending is not None:
            yield pending[0], [future.result() for future in pending[1]]
    finally:
        readers.shutdown(cancel_futures=True)


def store_rows(job: Import, rows: Sequence[LocatedRow], read: Sequence[ParsedRow | RowError]) -> None:
    """Store rows that were read, and count on the job what became of each. Runs inside the caller's transaction. Raises
    OSError."""
    outcomes: dict[LocatedRow, int | RowError | None] = {}
    for row, one in zip(rows, read, strict=True):
        if isinstance(one, RowError):
            outcomes[row] = one
    for group in _groups([one for one in read if isinstance(one, ParsedRow)]):
        outcomes.update(_store_group(job, group))
    refusals = []
    for row in rows:
        outcome = outcomes[row]
        if isinstance(outcome, RowError):
            refusals.append(_to_refusal(job, row, outcome))
        else:
            job.imported += outcome is not None
            job.known += outcome is None
            job.steps += outcome or 0
    Refusal.objects.bulk_create(refusals)
    job.refused += len(refusals)


@contextmanager
def gc_paused() -> Iterator[None]:
    """Collect no cyclic garbage meanwhile: a collection goes through every row in memory, none of which is garbage."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def _to_refusal(job: Import, row: LocatedRow, refused: RowError) -> Refusal:
    reason = str(refused).replace("\x00", "�").encode(errors="replace").decode()
    return Refusal(
        of=job,
        file=row.file[:MAX_FILE_CHARACTERS],
        line=row.line,
        code=refused.code,
        message=reason[:MAX_MESSAGE_CHARACTERS],
    )


def _parse_or_reject(job: Import, folder: SourceFolder, row: LocatedRow) -> ParsedRow | RowError:
    try:
        return _parse(job, folder, row)
    except RowError as refused:
        return refused
    except RecursionError:
        return RowError("bad_json", "It is nested too deeply.")


def _parse(job: Import, folder: SourceFolder, row: LocatedRow) -> ParsedRow:
    """Raises RowError, and OSError where a disk or a bucket fails."""
    if row.fault is not None or row.value is None:
        raise RowError(*(row.fault or ("bad_json", "It is no JSON.")))
    reader = _find_reader(job, row)
    pictures = RowPictures(folder, row)
    incoming = SourceRow(row=row.value, find=pictures.find, moment=job.created_at, key=digest_row(row, ())[:32])
    trajectory = read_row(reader, incoming)
    if job.session is not None and trajectory.id != str(job.session):
        raise RowError("other_session", f"It is session {trajectory.id}, and {job.session} was announced.")
    digest = digest_row(row, pictures.refs)
    return ParsedRow(row, reader, incoming, pictures, trajectory, digest, _episode_id(trajectory, digest))


def _groups(read: Sequence[ParsedRow]) -> Iterator[Sequence[ParsedRow]]:
    """The rows in order, in groups in which none is, or has the id of, another."""
    group: list[ParsedRow] = []
    seen: set[str | UUID] = set()
    for one in read:
        if not seen.isdisjoint((one.digest, one.episode_id)):
            yield group
            group, seen = [], set()
        group.append(one)
        seen |= {one.digest, one.episode_id}
    if group:
        yield group


def _store_group(job: Import, group: Sequence[ParsedRow]) -> RowOutcomes:
    """What became of each of a group. If the database does not take the group, each is tried by itself."""
    pool = job.pool
    try:
        with transaction.atomic():
            return _store_new(job, group)
    except DatabaseError as error:
        if not _is_row_error(error):
            raise
        reason = _database_reason(error)
    except (ValueError, TypeError, RecursionError, OverflowError) as error:
        reason = f"It cannot be stored: {error}"
    job.pool = pool  # one that was made within is gone
    if len(group) == 1:
        return {group[0].row: RowError("not_storable", reason)}
    return {row: outcome for one in group for row, outcome in _store_group(job, [one]).items()}


def _is_row_error(error: DatabaseError) -> bool:
    """Whether the database refuses what it was given; else it is away, or busy."""
    limit = (getattr(error.__cause__, "sqlstate", None) or "").startswith(PROGRAM_LIMIT_CLASS)
    return limit or isinstance(error, DataError | IntegrityError)


def _database_reason(error: DatabaseError) -> str:
    """What the database says is wrong, and with which column or value."""
    diagnosis = getattr(error.__cause__, "diag", None)
    copied = COPIED_COLUMN_PATTERN.search(getattr(diagnosis, "context", None) or "")
    where = copied[1] if copied else getattr(diagnosis, "message_detail", None)
    return f"The database refuses it: {str(error).splitlines()[0]}{f' ({where})' if where else ''}"


def _store_new(job: Import, group: Sequence[ParsedRow]) -> RowOutcomes:
    """Store those of a group that are not here yet. Raises what `episodes_ingest` raises."""
    outcomes: dict[LocatedRow, int | RowError | None] = {}
    digests = Source.objects.filter(digest__in=[one.digest for one in group])
    known = set(digests.values_list("digest", flat=True))
    existing_ids = set(Episode.objects.filter(pk__in=[one.episode_id for one in group]).values_list("pk", flat=True))
    new_rows: list[tuple[ParsedRow, tuple[BlobRef, ...]]] = []
    for one in group:
        try:
            if one.digest in known or (one.episode_id in existing_ids and _is_same_episode(one)):
                outcomes[one.row] = None
            else:
                new_rows.append((one, one.pictures.stored_blobs(one.trajectory)))
        except RowError as refused:
            outcomes[one.row] = refused
    if new_rows:
        _ingest(job, new_rows)
    return outcomes | {one.row: len(one.trajectory.steps) for one, _ in new_rows}


def _ingest(job: Import, new_rows: Sequence[tuple[ParsedRow, tuple[BlobRef, ...]]]) -> None:
    pool = _import_pool(job, new_rows[0][0].trajectory)
    people = _annotators(job, {one.trajectory.annotator for one, _ in new_rows})
    incoming_episodes = [
        IncomingEpisode(
            episode_id=one.episode_id,
            digest=one.digest,
            annotator=people[one.trajectory.annotator],
            trajectory=one.trajectory,
            blobs=blobs,
        )
        for one, blobs in new_rows
    ]
    episodes_ingest(import_id=job.id, pool=pool, incoming_episodes=incoming_episodes)


def _annotators(job: Import, names: set[str | None]) -> Mapping[str | None, User]:
    """Whose work rows are, by the names that they have. A recorded session is the work of who uploads it."""
    if job.session is None:
        return external_annotators_ensure(names)
    assert job.requested_by is not None, "a session has an owner"
    return dict.fromkeys(names, job.requested_by)


def _find_reader(job: Import, row: LocatedRow) -> RowReader:
    """The reader of a row's format. Raises RowError."""
    assert row.value is not None
    known = [reader for reader in READERS.values() if reader.recognises(row.value)]
    if not known:
        raise RowError("unknown_format", f"It is none of {', '.join(READERS)}.")
    if job.format and known[0].name != job.format:
        raise RowError("other_format", f"It is {known[0].name}, not {job.format}; choose that format or none.")
    return known[0]


def _episode_id(trajectory: Trajectory, digest: str) -> UUID:
    """The id it has, where that is one of ours; else one that goes by its content."""
    try:
        return UUID(trajectory.id)
    except ValueError:
        return uuid5(NAMESPACE, digest)


def _is_same_episode(one: ParsedRow) -> bool:
    """Whether the episode of this id that is here would be exported as this row. Fields that an earlier version did not
    write have their defaults. Raises RowError."""
    form, choice = FORMATS.get(one.reader.name), ExportOptions(dialect=get_dialect("ui_tars_1_5"))
    if form is not None:  # sessions of the recorder are read only
        for trajectory in trajectories_reviewed(trajectories_of([one.episode_id])):
            for record in form.records(trajectory, choice):
                if isinstance(record, Record) and any(_means_the_same(one, line) for line in record.lines.values()):
                    return True
    raise RowError("id_taken", f"There is another trajectory {one.episode_id} here.")


def _means_the_same(one: ParsedRow, line: str) -> bool:
    row = json.loads(line)
    if row == one.row.value:
        return True
    try:
        exported = read_row(one.reader, replace(one.source, row=row))
    except (RowError, OSError):
        return False
    if isinstance(one.row.value, dict) and "supervisor_notes" not in one.row.value:  # of an earlier version
        exported = exported.model_copy(update={"supervisor_notes": ()})
    return exported == one.trajectory


def _import_pool(job: Import, trajectory: Trajectory) -> Pool:
    """The pool of what comes in, made when there is something; it gives out no tasks."""
    if job.pool is None:
        job.pool = pool_ensure(
            name=job.pool_name,
            members=[],
            description=f"Imported: {job.name}",
            platform=trajectory.task.platform,
            max_steps=MAX_STEPS,
            paused=True,
        )
    return Pool.objects.select_for_update().get(pk=job.pool.pk)
