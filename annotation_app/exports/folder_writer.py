"""Writing trajectories to a folder, part by part: written aside, renamed when whole, the same bytes for the same input.

A worker that is killed leaves a journal; the next one goes on at the part it had begun.
"""

import gc
import hashlib
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from uuid import UUID

from annotation_app.blobs.selectors import blob_exists
from annotation_app.catalogue.selectors import trajectories_of
from annotation_app.exports.journal import (
    JOURNAL_NAME,
    ExcludedRow,
    ExportJournal,
    PartCounts,
    sqlite_errors_as_oserror,
)
from annotation_app.exports.schemas import ExportFilters, ExportPlan
from annotation_app.reviews.selectors.reviewed_trajectories import trajectories_reviewed
from protocol.blobs import BlobRef
from protocol.dialects.families import get_dialect
from protocol.formats.records import ExportFormat, ExportOptions, Record, RowError, SkippedRow, coordinate_system
from protocol.formats.registry import get_format
from protocol.trajectory.export_folders import MANIFEST, UNFINISHED_SUFFIX, ExportCounts, ExportManifest
from protocol.trajectory.trajectories import ORIGINAL, Trajectory, without_undone_steps
from protocol.trajectory.variants import VariantKind, split_label

PART_SIZE = 200
"""Trajectories of a part: what a worker that was killed does again."""
READ_BATCH = 20
"""Trajectories that are in memory at once."""
MISSING_NAME, EXCLUDED_NAME = "missing.jsonl", "refused.jsonl"


class MissingBlobs(Exception):
    """Pictures that the trajectories show are lost."""

    def __init__(self, count: int, first: list[tuple[str, str]]) -> None:
        super().__init__(f"{count} pictures are missing.")
        self.first = first


@dataclass(frozen=True)
class ExportOrder:
    """What is to be written, for whom it is told, and where."""

    target: Path
    filters: ExportFilters
    plan: ExportPlan
    pool: str | None
    created_at: datetime
    select_episodes: Callable[[], Iterable[tuple[UUID, str]]]
    """Which trajectories, in order, each with its split; asked once."""
    progress: Callable[[float], None] = lambda _: None
    """Hears how far it is; may raise to stop."""


@dataclass(frozen=True)
class ExportResult:
    """The result of writing."""

    counts: PartCounts
    bytes: int
    images: int
    refused: dict[str, int]
    """Rows and trajectories that were left out, by the reason's code."""
    missing: list[tuple[str, str]]
    manifest_sha256: str

    @property
    def variants(self) -> dict[str, int]:
        """How many of the trajectories are variants, by their kind."""
        return self.counts.variants


@contextmanager
def _rare_gc() -> Iterator[None]:
    """Collect garbage rarely. Trajectories are many small objects without cycles: looking through all of them again and
    again takes a third of the time. Reference counts free them as before."""
    thresholds = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()


@sqlite_errors_as_oserror()
@_rare_gc()
def write_export(order: ExportOrder) -> ExportResult:
    """Write an order; its folder appears only when it is whole. Raises MissingBlobs and OSError."""
    partial = order.target.with_name(order.target.name + UNFINISHED_SUFFIX)
    partial.mkdir(parents=True, exist_ok=True)
    with ExportJournal(partial) as journal:
        if not journal.planned:
            journal.plan(order.select_episodes())
        if journal.missing_count():
            journal.reset_parts()
        _write_parts(order, journal, partial)
        missing_rows = journal.missing_count()
        if missing_rows and not order.plan.leave_out_missing:
            raise MissingBlobs(missing_rows, _first_missing(journal))
        result = _finish(order, journal, partial)
    for journal_file in partial.glob(f"{JOURNAL_NAME}*"):
        journal_file.unlink()
    shutil.rmtree(partial / "parts", ignore_errors=True)
    if order.target.exists():
        shutil.rmtree(order.target)
    partial.rename(order.target)
    return result


def read_members(target: Path) -> Iterator[tuple[UUID, str]]:
    """The trajectories of a finished folder, each with its split."""
    with (target / "members.jsonl").open() as lines:
        for one in map(json.loads, lines):
            yield UUID(one["id"]), one["split"]


def _write_parts(order: ExportOrder, journal: ExportJournal, partial: Path) -> None:
    splits = journal.splits()
    whole, done = sum(splits.values()), 0
    for split, count in splits.items():
        shards = -(-count // PART_SIZE)
        for number in range(shards):
            if not journal.written(split, number):
                _write_part(order, journal, partial, split, number, shards)
            done += min(PART_SIZE, count - number * PART_SIZE)
            order.progress(done / whole)


def _write_part(
    order: ExportOrder, journal: ExportJournal, partial: Path, split: str, number: int, shards: int
) -> None:
    from annotation_app.exports.part_writers import PART_WRITERS  # pyarrow takes a tenth of a program's start

    form = get_format(order.plan.format)
    choice = ExportOptions(
        dialect=get_dialect(order.plan.dialect, order.plan.prompt),
        budget=order.plan.budget,
        decisions=None if order.plan.decisions is None else frozenset(order.plan.decisions),
        split=split,
    )
    counts: Counter[str] = Counter()
    variants = order.plan.variants if split == "train" else ()
    missing_rows: list[tuple[str, str]] = []
    refused: list[ExcludedRow] = []
    with PART_WRITERS[form.layout](partial, form, split, number, shards) as writer:
        for trajectory in _read_trajectories(journal.episodes(split, number, PART_SIZE), order.filters, variants):
            found, why = _to_records(form, trajectory, choice)
            refused += why
            missing_refs = _missing_blobs(found)
            if missing_refs:
                missing_rows += [(ref.sha256, trajectory.id) for ref in missing_refs]
                continue
            for record in found:
                writer.add(record)
            counts += _count(trajectory, len(found))
        files = writer.close()
    journal.part_add(split, number, PartCounts(**counts), files, missing_rows, refused)


def _count(trajectory: Trajectory, records: int) -> "Counter[str]":
    counts = Counter(trajectories=int(records > 0), steps=len(trajectory.steps), records=records)
    if records and trajectory.variant != ORIGINAL:
        counts[split_label(trajectory.variant)[0]] += 1
    return counts


def _read_trajectories(
    ids: list[UUID], filters: ExportFilters, variants: tuple[VariantKind, ...]
) -> Iterator[Trajectory]:
    for place in range(0, len(ids), READ_BATCH):
        for trajectory in trajectories_reviewed(trajectories_of(ids[place : place + READ_BATCH]), variants):
            yield trajectory if filters.undone else without_undone_steps(trajectory)


def _to_records(
    form: ExportFormat, trajectory: Trajectory, choice: ExportOptions
) -> tuple[list[Record], list[ExcludedRow]]:
    """What a trajectory becomes, and which rows of it are left out; none of it where one row is a sign of more."""
    records: list[Record] = []
    refused: list[ExcludedRow] = []
    try:
        for one in form.records(trajectory, choice):
            if isinstance(one, SkippedRow):
                refused.append(ExcludedRow(one.key, one.code, one.message, trajectory.id))
            else:
                records.append(one)
    except RowError as error:
        return [], [ExcludedRow(trajectory.id, error.code, str(error), trajectory.id)]
    return records, refused


def _missing_blobs(records: list[Record]) -> list[BlobRef]:
    refs = {ref.sha256: ref for record in records for ref in record.images}
    return [ref for ref in refs.values() if not blob_exists(ref.sha256)]


def _first_missing(journal: ExportJournal, most: int = 100) -> list[tuple[str, str]]:
    return [row for _, row in zip(range(most), journal.missing(), strict=False)]


def _finish(order: ExportOrder, journal: ExportJournal, partial: Path) -> ExportResult:
    """Put lines together, list what there is, write the manifest."""
    form = get_format(order.plan.format)
    data = _join_data_files(form, journal, partial)
    for path, content in form.sidecar_files(data).items():
        _write_file(journal, partial, path, [content])
    members = (
        json.dumps({"id": str(episode), "split": split}).encode() + b"\n" for episode, split in journal.plan_rows()
    )
    _write_file(journal, partial, "members.jsonl", members)
    if journal.missing_count():
        rows = (json.dumps({"sha256": sha, "trajectory": one}).encode() + b"\n" for sha, one in journal.missing())
        _write_file(journal, partial, MISSING_NAME, rows)
    if journal.refused_codes():
        rows = (json.dumps(row._asdict()).encode() + b"\n" for row in journal.refused())
        _write_file(journal, partial, EXCLUDED_NAME, rows)
    digest = _write_manifest(order, journal, partial)
    return ExportResult(
        counts=journal.counts(),
        bytes=journal.bytes(),
        images=journal.images(),
        refused=journal.refused_codes(),
        missing=_first_missing(journal),
        manifest_sha256=digest,
    )


def _join_data_files(form: ExportFormat, journal: ExportJournal, partial: Path) -> dict[str, tuple[str, ...]]:
    """The files of each split; lines are put together here, all else is whole already."""
    splits = journal.splits() or {"train": 0}
    if form.layout != "lines":
        return {split: () for split in splits}
    from annotation_app.exports.part_writers import join_lines

    files = {}
    for split, count in splits.items():
        names = sorted({path.name.rpartition(".")[0] for path in (partial / "parts" / split).glob("*")})
        result: list[tuple[str, str, int]] = []
        for name in names or (["trajectories.jsonl"] if form.name == "canonical" else []):
            target = name if split == "train" else f"{split}.{name}"
            result.append(
                join_lines(
                    partial, split, target, name, -(-count // PART_SIZE), first_line_marker=form.first_line_marker
                )
            )
        for written in result:
            journal.file_add(*written)
        files[split] = tuple(path for path, _sha, _size in result)
    return {split: names for split, names in files.items() if names}


def _write_file(journal: ExportJournal, folder: Path, path: str, chunks: Iterable[bytes]) -> None:
    digest, size = hashlib.sha256(), 0
    with (folder / path).open("wb") as file:
        for chunk in chunks:
            file.write(chunk)
            digest.update(chunk)
            size += len(chunk)
    journal.file_add(path, digest.hexdigest(), size)


def _write_manifest(order: ExportOrder, journal: ExportJournal, partial: Path) -> str:
    """The manifest, its files one by one: a million are too many to hold. Its own digest."""
    counts = journal.counts()
    head = ExportManifest(
        created_at=order.created_at,
        filters=order.filters.model_dump(mode="json"),
        plan=order.plan.model_dump(mode="json"),
        splits={split: journal.counts(split).trajectories for split in journal.splits()},
        missing=journal.missing_count(),
        refused=sum(journal.refused_codes().values()),
        refused_codes=journal.refused_codes(),
        pool=order.pool,
        variants=counts.variants,
        coordinates=coordinate_system(get_format(order.plan.format), get_dialect(order.plan.dialect)),
        counts=ExportCounts(trajectories=counts.trajectories, steps=counts.steps, images=journal.images()),
        files=(),
    ).model_dump_json(indent=1)
    digest = hashlib.sha256()
    with (partial / MANIFEST).open("wb") as file:

        def write(text: str) -> None:
            file.write(text.encode())
            digest.update(text.encode())

        write(head.removesuffix("[]\n}") + "[")
        for place, (path, sha256, size) in enumerate(journal.files()):
            entry = json.dumps({"path": path, "sha256": sha256, "size": size})
            write(f"{',' if place else ''}\n  {entry}")
        write("\n ]\n}")
        file.flush()
        os.fdatasync(file.fileno())
    return digest.hexdigest()
