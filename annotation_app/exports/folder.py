"""Writing trajectories to a folder, part by part: written aside, renamed when whole, the same bytes for the same input.

A worker that is killed leaves a journal; the next one goes on at the part it had begun.
"""

import gc
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from uuid import UUID

from annotation_app.blobs.selectors import blob_exists
from annotation_app.catalogue.selectors import trajectories_of
from annotation_app.exports.journal import NAME, Journal, PartCounts, Refused, told_as_storage
from annotation_app.exports.schemas import ExportFilters, ExportPlan
from annotation_app.exports.writers import WRITERS, Written, lines_join
from annotation_app.reviews.selectors.reviewed_trajectories import trajectories_reviewed
from vocabulary.blobs import BlobRef
from vocabulary.dialects import dialect_named
from vocabulary.exports import MANIFEST, UNFINISHED, Counts, Manifest
from vocabulary.formats.record import Choice, Format, LeftOut, Record, RowRefused, coordinates_of
from vocabulary.formats.registry import format_named
from vocabulary.trajectories import Trajectory, trajectory_standing

PART = 200
"""Trajectories of a part: what a worker that was killed does again."""
READ = 20
"""Trajectories that are in memory at once."""
MISSING, REFUSED = "missing.jsonl", "refused.jsonl"


class MissingBlobs(Exception):
    """Pictures that the trajectories show are lost."""

    def __init__(self, count: int, first: list[tuple[str, str]]) -> None:
        super().__init__(f"{count} pictures are missing.")
        self.first = first


@dataclass(frozen=True)
class Order:
    """What is to be written, for whom it is told, and where."""

    target: Path
    filters: ExportFilters
    plan: ExportPlan
    pool: str | None
    created_at: datetime
    chosen: Callable[[], Iterable[tuple[UUID, str]]]
    """Which trajectories, in order, each with its split; asked once."""
    progress: Callable[[float], None] = lambda _: None
    """Hears how far it is; may raise to stop."""


@dataclass(frozen=True)
class Made:
    """What came of it."""

    counts: PartCounts
    bytes: int
    images: int
    refused: dict[str, int]
    """Rows and trajectories that were left out, by the reason's code."""
    missing: list[tuple[str, str]]
    manifest_sha256: str


@contextmanager
def _rare_collection() -> Iterator[None]:
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


@told_as_storage()
@_rare_collection()
def folder_write(order: Order) -> Made:
    """Write an order; its folder appears only when it is whole. Raises MissingBlobs and OSError."""
    aside = order.target.with_name(order.target.name + UNFINISHED)
    aside.mkdir(parents=True, exist_ok=True)
    with Journal(aside) as journal:
        if not journal.planned:
            journal.plan(order.chosen())
        if journal.missing_count():
            journal.again()
        _parts_write(order, journal, aside)
        lost = journal.missing_count()
        if lost and not order.plan.leave_out_missing:
            raise MissingBlobs(lost, _first(journal))
        made = _finish(order, journal, aside)
    for left in aside.glob(f"{NAME}*"):
        left.unlink()
    shutil.rmtree(aside / "parts", ignore_errors=True)
    if order.target.exists():
        shutil.rmtree(order.target)
    aside.rename(order.target)
    return made


def members_read(target: Path) -> Iterator[tuple[UUID, str]]:
    """The trajectories of a finished folder, each with its split."""
    with (target / "members.jsonl").open() as lines:
        for one in map(json.loads, lines):
            yield UUID(one["id"]), one["split"]


def _parts_write(order: Order, journal: Journal, aside: Path) -> None:
    splits = journal.splits()
    whole, done = sum(splits.values()), 0
    for split, count in splits.items():
        shards = -(-count // PART)
        for number in range(shards):
            if not journal.written(split, number):
                _part_write(order, journal, aside, split, number, shards)
            done += min(PART, count - number * PART)
            order.progress(done / whole)


def _part_write(order: Order, journal: Journal, aside: Path, split: str, number: int, shards: int) -> None:
    form = format_named(order.plan.format)
    choice = Choice(
        dialect=dialect_named(order.plan.dialect),
        budget=order.plan.budget,
        decisions=None if order.plan.decisions is None else frozenset(order.plan.decisions),
        split=split,
    )
    trajectories = steps = records = 0
    lost: list[tuple[str, str]] = []
    refused: list[Refused] = []
    with WRITERS[form.layout](aside, form, split, number, shards) as writer:
        for trajectory in _read(journal.episodes(split, number, PART), order.filters):
            found, why = _records(form, trajectory, choice)
            refused += why
            absent = _absent(found)
            if absent:
                lost += [(ref.sha256, trajectory.id) for ref in absent]
                continue
            for record in found:
                writer.add(record)
                records += 1
            trajectories, steps = trajectories + bool(found), steps + len(trajectory.steps)
        files = writer.close()
    journal.part_add(
        split, number, PartCounts(trajectories=trajectories, steps=steps, records=records), files, lost, refused
    )


def _read(ids: list[UUID], filters: ExportFilters) -> Iterator[Trajectory]:
    for place in range(0, len(ids), READ):
        for trajectory in trajectories_reviewed(trajectories_of(ids[place : place + READ])):
            yield trajectory if filters.undone else trajectory_standing(trajectory)


def _records(form: Format, trajectory: Trajectory, choice: Choice) -> tuple[list[Record], list[Refused]]:
    """What a trajectory becomes, and which rows of it are left out; none of it where one row is a sign of more."""
    records: list[Record] = []
    refused: list[Refused] = []
    try:
        for one in form.records(trajectory, choice):
            if isinstance(one, LeftOut):
                refused.append(Refused(one.key, one.code, one.message, trajectory.id))
            else:
                records.append(one)
    except RowRefused as error:
        return [], [Refused(trajectory.id, error.code, str(error), trajectory.id)]
    return records, refused


def _absent(records: list[Record]) -> list[BlobRef]:
    refs = {ref.sha256: ref for record in records for ref in record.images}
    return [ref for ref in refs.values() if not blob_exists(ref.sha256)]


def _first(journal: Journal, most: int = 100) -> list[tuple[str, str]]:
    return [row for _, row in zip(range(most), journal.missing(), strict=False)]


def _finish(order: Order, journal: Journal, aside: Path) -> Made:
    """Put lines together, list what there is, write the manifest."""
    form = format_named(order.plan.format)
    data = _data_files(form, journal, aside)
    for path, content in form.beside(data).items():
        _file_write(journal, aside, path, [content])
    members = (
        json.dumps({"id": str(episode), "split": split}).encode() + b"\n" for episode, split in journal.plan_rows()
    )
    _file_write(journal, aside, "members.jsonl", members)
    if journal.missing_count():
        rows = (json.dumps({"sha256": sha, "trajectory": one}).encode() + b"\n" for sha, one in journal.missing())
        _file_write(journal, aside, MISSING, rows)
    if journal.refused_codes():
        rows = (json.dumps(row._asdict()).encode() + b"\n" for row in journal.refused())
        _file_write(journal, aside, REFUSED, rows)
    digest = _manifest_write(order, journal, aside)
    return Made(
        counts=journal.counts(),
        bytes=journal.bytes(),
        images=journal.images(),
        refused=journal.refused_codes(),
        missing=_first(journal),
        manifest_sha256=digest,
    )


def _data_files(form: Format, journal: Journal, aside: Path) -> dict[str, tuple[str, ...]]:
    """The files of each split; lines are put together here, all else is whole already."""
    splits = journal.splits() or {"train": 0}
    if form.layout != "lines":
        return {split: () for split in splits}
    files = {}
    for split, count in splits.items():
        names = sorted({path.name.rpartition(".")[0] for path in (aside / "parts" / split).glob("*")})
        made: list[Written] = []
        for name in names or (["trajectories.jsonl"] if form.name == "canonical" else []):
            target = name if split == "train" else f"{split}.{name}"
            made.append(lines_join(aside, split, target, name, -(-count // PART), lead=form.lead))
        for written in made:
            journal.file_add(*written)
        files[split] = tuple(path for path, _sha, _size in made)
    return {split: names for split, names in files.items() if names}


def _file_write(journal: Journal, folder: Path, path: str, chunks: Iterable[bytes]) -> None:
    digest, size = hashlib.sha256(), 0
    with (folder / path).open("wb") as file:
        for chunk in chunks:
            file.write(chunk)
            digest.update(chunk)
            size += len(chunk)
    journal.file_add(path, digest.hexdigest(), size)


def _manifest_write(order: Order, journal: Journal, aside: Path) -> str:
    """The manifest, its files one by one: a million are too many to hold. Its own digest."""
    counts = journal.counts()
    head = Manifest(
        created_at=order.created_at,
        filters=order.filters.model_dump(mode="json"),
        plan=order.plan.model_dump(mode="json"),
        splits={split: journal.counts(split).trajectories for split in journal.splits()},
        missing=journal.missing_count(),
        refused=sum(journal.refused_codes().values()),
        refused_codes=journal.refused_codes(),
        pool=order.pool,
        coordinates=coordinates_of(format_named(order.plan.format), dialect_named(order.plan.dialect)),
        counts=Counts(trajectories=counts.trajectories, steps=counts.steps, images=journal.images()),
        files=(),
    ).model_dump_json(indent=1)
    digest = hashlib.sha256()
    with (aside / MANIFEST).open("wb") as file:

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
