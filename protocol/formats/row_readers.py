"""Readers of rows that other programs wrote: pure functions from a row and its pictures to a trajectory."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from protocol.blobs import BlobRef
from protocol.formats.records import RowError
from protocol.trajectory.observations import Observation
from protocol.trajectory.trajectories import Trajectory

MAX_STEPS = 10_000
"""Of one trajectory."""
MAX_ID_CHARACTERS = 200
MAX_MESSAGE_CHARACTERS = 500
Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True)
class SourceImage:
    """A picture that lies beside a row, and its size in pixels."""

    image: BlobRef
    width: int
    height: int


@dataclass(frozen=True)
class SourceRow:
    """A row, and what lies beside it."""

    row: Mapping[str, Any]
    find: Callable[[str], SourceImage]
    """The picture of this path. Raises RowError."""
    moment: datetime
    """Substitute for times that the row lacks."""
    key: str
    """What a trajectory is called that has no name."""


@dataclass(frozen=True)
class RowReader:
    """How rows of one format are known and read."""

    name: str
    recognises: Callable[[Mapping[str, Any]], bool]
    read: Callable[[SourceRow], Trajectory]
    """Raises RowError."""


def read_row(reader: RowReader, source_row: SourceRow) -> Trajectory:
    """The trajectory of a row.

    Raises:
        RowError: Anything is wrong with the row.
        OSError: Its pictures cannot be read.
    """
    try:
        return reader.read(source_row)
    except (RowError, OSError):
        raise
    except ValidationError as error:
        raise validation_row_error(error) from None
    except Exception as error:  # one row never stops an import
        raise RowError(
            "bad_row", f"It cannot be read: {type(error).__name__}: {error}"[:MAX_MESSAGE_CHARACTERS]
        ) from error


@contextmanager
def error_context(field: str) -> Iterator[None]:
    """Within the block, name this field of the row in errors. Raises RowError."""
    try:
        yield
    except ValidationError as error:
        raise validation_row_error(error, field) from None
    except RowError as row_error:
        if row_error.code != "bad_row":
            raise
        raise RowError("bad_row", f"{field}.{row_error}") from None


def validate_as(model: type[Model], value: Any) -> Model:
    """A value as this type. Raises RowError."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise validation_row_error(error) from None


def validation_row_error(error: ValidationError, field: str = "") -> RowError:
    """The first faults with their fields, without the input."""
    found = error.errors(include_input=False, include_url=False, include_context=False)
    places = (".".join(filter(None, (field, *map(str, one["loc"])))) for one in found[:3])
    return RowError("bad_row", "; ".join(f"{place}: {one['msg']}" for place, one in zip(places, found, strict=False)))


def imported_observation(picture: SourceImage | None, moment: datetime, text: str = "") -> Observation:
    """An observation built from a file's data. It counts as settled, because no settle was recorded."""
    return Observation(
        screenshot=picture.image if picture else None,
        width=picture.width if picture else 0,
        height=picture.height if picture else 0,
        captured_at=moment,
        settled=True,
        rest="rested",
        settle_ms=0,
        text=text or None,
    )


def with_time_zone(moment: datetime | None, otherwise: datetime) -> datetime:
    """A time with its zone; one that names none is UTC."""
    if moment is None:
        return otherwise
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def validate_trajectory(trajectory: Trajectory) -> Trajectory:
    """The trajectory, if its steps are in order and within bounds. Raises RowError."""
    if not trajectory.steps:
        raise RowError("no_steps", "It holds no act.")
    if len(trajectory.steps) > MAX_STEPS:
        raise RowError("too_long", f"It has more than {MAX_STEPS} steps.")
    if [step.index for step in trajectory.steps] != list(range(len(trajectory.steps))):
        raise RowError("bad_row", "Its steps are not numbered 0, 1, 2, and so on.")
    if len(trajectory.proposals) > len(trajectory.steps):
        raise RowError("bad_row", "It has offers for steps that are not there.")
    if not 1 <= len(trajectory.task.id) <= MAX_ID_CHARACTERS:
        raise RowError("bad_row", f"task.id: 1 to {MAX_ID_CHARACTERS} characters.")
    for field, moment in _timestamps(trajectory):
        if moment is not None and moment.tzinfo is None:
            raise RowError("bad_row", f"{field}: It names no time zone.")
    return trajectory


def _timestamps(trajectory: Trajectory) -> Iterator[tuple[str, datetime | None]]:
    """Every time a trajectory tells, and its field."""
    yield "created_at", trajectory.created_at
    yield "finished_at", trajectory.finished_at
    for place, step in enumerate(trajectory.steps):
        yield f"steps.{place}.started_at", step.started_at
        yield f"steps.{place}.ended_at", step.ended_at
        yield f"steps.{place}.before.captured_at", step.before.captured_at
        yield f"steps.{place}.after.captured_at", step.after.captured_at if step.after else None
    for place, offers in enumerate(trajectory.proposals):
        for rank, offer in enumerate(offers):
            yield f"proposals.{place}.{rank}.created_at", offer.created_at
