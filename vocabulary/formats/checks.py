"""What must hold of every row, checked as it is written and not in somebody's trainer."""

from collections import Counter
from collections.abc import Iterable, Sequence

from vocabulary.actions import Action, points_of
from vocabulary.blobs import BlobRef
from vocabulary.dialect import ChatMessage, Dialect, ImagePart, Screen, Unparsed
from vocabulary.equivalence import equivalent
from vocabulary.formats.record import RowLeftOut, RowRefused
from vocabulary.formats.special_words import Consumer, prompt_words
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


def reading_check(text: str, action: Action, screen: Screen, dialect: Dialect, key: str) -> None:
    """The text as it is learned, read back in the dialect's own coordinates, means what was done.

    Raises:
        RowLeftOut: It is no action, or another one: a thought or an argument looks like one.
        RowRefused: It is the same kind of action elsewhere, as all actions of the trajectory may be.
    """
    read = dialect.parse(text, screen)
    if isinstance(read, Unparsed) or read.action.kind != action.kind:
        raise RowLeftOut("unreadable", f"{dialect.name} does not read what it wrote")
    coarse = max(screen.width, screen.height) // 1000 + GRID_ERROR
    if not equivalent(read.action, action, tolerance=coarse):
        if not list(points_of(action)):
            raise RowLeftOut("unreadable", f"{dialect.name} reads another {action.kind} than it wrote")
        raise RowRefused("coordinates", f"{key}: read back it means something else")


def consumer_check(texts: Iterable[str], images: int, image: str, consumer: Consumer, dialect: Dialect) -> None:
    """The texts of a row, read as the consumer and a tokenizer read them: a placeholder for each picture, and no other
    special word than the dialect's own. Raises RowLeftOut."""
    found = Counter(consumer.words.findall("\n".join(texts)))  # no special word goes over a line's end
    for word in consumer.words.findall(image):
        if (count := found.pop(word, 0)) != images:
            raise RowLeftOut("image_count", f"{word} stands there {count} times for {images} pictures")
    if foreign := found.keys() - prompt_words(dialect):
        raise RowLeftOut("special_word", f"{min(foreign)!r} is no text to {consumer.name} or to a tokenizer")


def images_of(messages: Iterable[ChatMessage]) -> tuple[BlobRef, ...]:
    """The pictures of a conversation, in order, repeated ones too."""
    return tuple(part.image for message in messages for part in message.content if isinstance(part, ImagePart))
