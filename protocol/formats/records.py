"""One thing a consumer reads: lines of text, a row of a table, a sample of a shard, or files of a folder."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from protocol.blobs import BlobRef
from protocol.dialects.coordinates import RESIZE_FACTOR
from protocol.dialects.dialect import Dialect
from protocol.training.samples import DEFAULT_HISTORY_BUDGET
from protocol.trajectory.export_folders import CoordinateSpace, CoordinateSystem
from protocol.trajectory.memory import HistoryBudget
from protocol.trajectory.steps import Decision, Step
from protocol.trajectory.trajectories import Trajectory

Layout = Literal["lines", "table", "shards", "folders"]
"""lines: JSON Lines beside a folder of pictures; table: parquet with the pictures in it; shards: tar files; folders:
one folder a trajectory."""

NO_FILES: Mapping[str, bytes] = {}


RowErrorCode = Literal[
    "special_word",
    "not_normalised",
    "image_count",
    "mask",
    "point_outside",
    "unreadable",
    "coordinates",
    "turns",
    "unsayable",
    "key",
]
"""Why an export leaves out a row or a trajectory; imports have codes of their own."""


class RowError(ValueError):
    """A row that a consumer would choke on, or learn the wrong thing from; `code` is stable. Its trajectory is left
    out."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class RowSkipped(RowError):
    """A row that cannot be written for this consumer, which says nothing about the other rows of its trajectory."""


@dataclass(frozen=True)
class ExportOptions:
    """How trajectories are told: in which dialect, with which history, and which steps are learned from."""

    dialect: Dialect
    budget: HistoryBudget = DEFAULT_HISTORY_BUDGET
    decisions: frozenset[Decision] | None = None
    """Only steps decided so are learned from; None: all that can be said and worked."""
    split: str = "train"


@dataclass(frozen=True)
class Record:
    """`lines` by file, `row` of a table, or `files` by path: what its format's layout asks for. `images` are the
    pictures it shows, in order; a table has their bytes, lines their paths."""

    key: str
    """Of this record alone, without a dot."""
    images: tuple[BlobRef, ...] = ()
    lines: Mapping[str, str] = field(default_factory=dict)
    row: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, bytes | BlobRef] = field(default_factory=dict)
    extras: tuple[BlobRef, ...] = ()
    """What goes with it where it is kept: a machine's files, prompts."""
    steps: int = 1


@dataclass(frozen=True)
class SkippedRow:
    """A row that is not written, by its key, and why; `code` is stable."""

    key: str
    code: str
    message: str
    lines: ClassVar[Mapping[str, str]] = {}
    """None, for who looks for a row among a trajectory's."""


def build_record(key: str, make: Callable[[], Record]) -> Record | SkippedRow:
    """A row, or why it alone is left out. Raises RowError where its trajectory is."""
    try:
        return make()
    except RowSkipped as error:
        return SkippedRow(key, error.code, f"{key}: {error}")


def coordinate_system(form: "ExportFormat", dialect: Dialect) -> CoordinateSystem:
    """How a format's rows name points, in this dialect where it is told in one."""
    if not form.dialect:
        return CoordinateSystem(space="shares" if form.relative_points else "pixels")
    space: CoordinateSpace = "scaled_pixels" if dialect.absolute else "thousandths"
    limits = dialect.limits
    return CoordinateSystem(
        space=space, min_pixels=limits.min_pixels, max_pixels=limits.max_pixels, factor=RESIZE_FACTOR
    )


@dataclass(frozen=True)
class ExportFormat:
    """One consumer's shape."""

    name: str
    layout: Layout
    records: Callable[[Trajectory, ExportOptions], Iterator[Record | SkippedRow]]
    """What a trajectory becomes, row by row, or why a row is left out. Raises RowError."""
    dialect: bool = False
    """Whether it is told in a model family's words, so that somebody has to choose one."""
    first_line_marker: bytes | None = None
    """What the first line of each file holds, where any does: a reader infers the columns' types from the beginning."""
    relative_points: bool = False
    """Whether points are shares of the picture, where no dialect writes them."""
    sidecar_files: Callable[[Mapping[str, tuple[str, ...]]], Mapping[str, bytes]] = lambda files: NO_FILES
    """Files that describe the data, by path, from the data files of each split."""


def batch_fields(step: Step) -> dict[str, Any]:
    """What a row says of a step that is one of several actions of a reply; nothing for a step of its own."""
    if step.batch is None:
        return {}
    return {
        "batch": step.batch.model_dump(mode="json"),
        "not_done": [action.model_dump(mode="json") for action in step.not_done],
    }
