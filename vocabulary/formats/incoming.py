"""What reads a row that somebody else wrote: pure functions from a row and its pictures to a trajectory."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from vocabulary.blobs import BlobRef
from vocabulary.formats.record import RowRefused
from vocabulary.observations import Observation
from vocabulary.trajectories import Trajectory

MOST_STEPS = 10_000
"""Of one trajectory."""
LONGEST_ID = 200
LONGEST_REASON = 500
Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True)
class Shown:
    """A picture that lies beside a row, and its size in pixels."""

    image: BlobRef
    width: int
    height: int


@dataclass(frozen=True)
class Incoming:
    """A row, and what lies beside it."""

    row: Mapping[str, Any]
    find: Callable[[str], Shown]
    """The picture of this path. Raises RowRefused."""
    moment: datetime
    """What stands for times that the row does not tell."""
    key: str
    """What a trajectory is called that has no name."""


@dataclass(frozen=True)
class Reader:
    """How rows of one format are known and read."""

    name: str
    recognises: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Incoming], Trajectory]
    """Raises RowRefused."""


def read_row(reader: Reader, incoming: Incoming) -> Trajectory:
    """The trajectory of a row. Whatever is wrong with it, RowRefused is raised; OSError where its pictures lie."""
    try:
        return reader.read(incoming)
    except (RowRefused, OSError):
        raise
    except ValidationError as error:
        raise bad_row(error) from None
    except Exception as error:  # one row never stops an import
        raise RowRefused("bad_row", f"It cannot be read: {type(error).__name__}: {error}"[:LONGEST_REASON]) from error


@contextmanager
def in_field(field: str) -> Iterator[None]:
    """Say of what is wrong within that it is in this field of the row."""
    try:
        yield
    except ValidationError as error:
        raise bad_row(error, field) from None
    except RowRefused as refused:
        if refused.code != "bad_row":
            raise
        raise RowRefused("bad_row", f"{field}.{refused}") from None


def parsed(model: type[Model], value: Any) -> Model:
    """A value as this type. Raises RowRefused."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise bad_row(error) from None


def bad_row(error: ValidationError, field: str = "") -> RowRefused:
    """The first faults with their fields, without the input."""
    found = error.errors(include_input=False, include_url=False, include_context=False)
    places = (".".join(filter(None, (field, *map(str, one["loc"])))) for one in found[:3])
    return RowRefused("bad_row", "; ".join(f"{place}: {one['msg']}" for place, one in zip(places, found, strict=False)))


def look_of(shown: Shown | None, moment: datetime, text: str = "") -> Observation:
    """A look as far as files tell of it: nobody waited for it, so it counts as at rest."""
    return Observation(
        screenshot=shown.image if shown else None,
        width=shown.width if shown else 0,
        height=shown.height if shown else 0,
        captured_at=moment,
        settled=True,
        rest="rested",
        settle_ms=0,
        text=text or None,
    )


def aware(moment: datetime | None, otherwise: datetime) -> datetime:
    """A time with its zone; one that names none is UTC."""
    if moment is None:
        return otherwise
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def whole(trajectory: Trajectory) -> Trajectory:
    """The trajectory, if its steps are in order and within bounds. Raises RowRefused."""
    if not trajectory.steps:
        raise RowRefused("no_steps", "It holds no act.")
    if len(trajectory.steps) > MOST_STEPS:
        raise RowRefused("too_long", f"It has more than {MOST_STEPS} steps.")
    if [step.index for step in trajectory.steps] != list(range(len(trajectory.steps))):
        raise RowRefused("bad_row", "Its steps are not numbered 0, 1, 2, and so on.")
    if len(trajectory.proposals) > len(trajectory.steps):
        raise RowRefused("bad_row", "It has offers for steps that are not there.")
    if not 1 <= len(trajectory.task.id) <= LONGEST_ID:
        raise RowRefused("bad_row", f"task.id: 1 to {LONGEST_ID} characters.")
    for field, moment in _moments(trajectory):
        if moment is not None and moment.tzinfo is None:
            raise RowRefused("bad_row", f"{field}: It names no time zone.")
    return trajectory


def _moments(trajectory: Trajectory) -> Iterator[tuple[str, datetime | None]]:
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
