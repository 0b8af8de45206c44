"""What must hold of every row, checked as it is written and not in somebody's trainer."""

from collections.abc import Iterable, Sequence

from vocabulary.actions import points_of
from vocabulary.blobs import BlobRef
from vocabulary.dialect import ChatMessage, Dialect, ImagePart, Screen, Unparsed
from vocabulary.equivalence import equivalent
from vocabulary.formats.record import RowRefused
from vocabulary.samples import Sample
from vocabulary.steps import Step

GRID_ERROR = 2
"""How far a coarse grid may move a point (pixels)."""


def images_check(count: int, images: Sequence[BlobRef], key: str) -> None:
    """A placeholder for each picture. Raises RowRefused."""
    if count != len(images):
        raise RowRefused("image_count", f"{key}: {count} placeholders for {len(images)} pictures")


def mask_check(learned: Iterable[bool], key: str) -> None:
    """What is learned is the last turn and no other. Raises RowRefused."""
    told = list(learned)
    if not told or not told[-1] or any(told[:-1]):
        raise RowRefused("mask", f"{key}: not the last turn alone is learned")


def points_check(step: Step, key: str) -> None:
    """Every point lies on the picture acted on. Raises RowRefused."""
    width, height = step.before.width, step.before.height
    if any(point.x >= width or point.y >= height for point in points_of(step.action)):
        raise RowRefused("point_outside", f"{key}: a point lies outside {width}x{height}")


def reading_check(sample: Sample, step: Step, dialect: Dialect) -> None:
    """The words, read back in the dialect's own coordinates, mean what was done. Raises RowRefused."""
    read = dialect.parse(sample.target, Screen.of(step.before))
    said = dialect.sayable(step.action)
    key = f"{sample.trajectory_id} step {sample.index}"
    if isinstance(read, Unparsed) or said is None:
        raise RowRefused("unreadable", f"{key}: {dialect.name} does not read what it wrote")
    screen = Screen.of(step.before)
    coarse = max(screen.width, screen.height) // 1000 + GRID_ERROR
    if not equivalent(read.action, said, tolerance=coarse):
        raise RowRefused("coordinates", f"{key}: read back it means something else")


def images_of(messages: Iterable[ChatMessage]) -> tuple[BlobRef, ...]:
    """The pictures of a conversation, in order, repeated ones too."""
    return tuple(part.image for message in messages for part in message.content if isinstance(part, ImagePart))
