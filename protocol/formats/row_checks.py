"""Validates every row while it is written, instead of in a later training program."""

from collections import Counter
from collections.abc import Iterable, Sequence

from protocol.actions.equivalence import equivalent
from protocol.actions.types import Action, action_points
from protocol.blobs import BlobRef
from protocol.dialects.dialect import ChatMessage, Dialect, ImagePart, ScreenSize, UnparsedReply
from protocol.formats.records import RowError, RowSkipped
from protocol.formats.special_tokens import Consumer, dialect_prompt_tokens
from protocol.trajectory.steps import Step

MAX_GRID_ERROR_PIXELS = 2
"""How far a coarse grid may move a point (pixels)."""


def check_image_count(count: int, images: Sequence[BlobRef], key: str) -> None:
    """A placeholder for each picture. Raises RowError."""
    if count != len(images):
        raise RowError("image_count", f"{key}: {count} placeholders for {len(images)} pictures")


def check_loss_mask(learned: Iterable[bool], key: str) -> None:
    """What is learned is the last turn and no other. Raises RowError."""
    mask = list(learned)
    if not mask or not mask[-1] or any(mask[:-1]):
        raise RowError("mask", f"{key}: not the last turn alone is learned")


def check_points(step: Step, key: str) -> None:
    """Every point lies on the picture acted on. Raises RowError."""
    width, height = step.before.width, step.before.height
    if any(point.x >= width or point.y >= height for point in action_points(step.action)):
        raise RowError("point_outside", f"{key}: a point lies outside {width}x{height}")


def check_round_trip(text: str, action: Action, screen: ScreenSize, dialect: Dialect, key: str) -> None:
    """The text as it is learned, read back in the dialect's own coordinates, means what was done.

    Raises:
        RowSkipped: It is no action, or another one: a thought or an argument looks like one.
        RowError: It is the same kind of action elsewhere, as all actions of the trajectory may be.
    """
    read = dialect.parse(text, screen)
    if isinstance(read, UnparsedReply) or read.action.kind != action.kind:
        raise RowSkipped("unreadable", f"{dialect.name} does not read what it wrote")
    coarse = max(screen.width, screen.height) // 1000 + MAX_GRID_ERROR_PIXELS
    if not equivalent(read.action, action, tolerance=coarse):
        if not list(action_points(action)):
            raise RowSkipped("unreadable", f"{dialect.name} reads another {action.kind} than it wrote")
        raise RowError("coordinates", f"{key}: read back it means something else")


def check_special_tokens(words: Iterable[str], images: int, image: str, consumer: Consumer, dialect: Dialect) -> None:
    """Check the special words that the consumer and a tokenizer find in a row.

    Args:
        words: All of them.
        images: How many pictures the row shows, each with one placeholder.
        image: The placeholder.
        consumer: Which words are special.
        dialect: Whose own words are allowed.

    Raises:
        RowSkipped: `image_count` for another number of placeholders; `special_word` for any other special word.
    """
    found = Counter(words)
    for word in consumer.words.findall(image):
        if (count := found.pop(word, 0)) != images:
            raise RowSkipped("image_count", f"{word} occurs {count} times for {images} pictures")
    if foreign := found.keys() - dialect_prompt_tokens(dialect):
        raise RowSkipped("special_word", f"{min(foreign)!r} is no text to {consumer.name} or to a tokenizer")


def message_images(messages: Iterable[ChatMessage]) -> tuple[BlobRef, ...]:
    """The pictures of a conversation, in order, repeated ones too."""
    return tuple(part.image for message in messages for part in message.content if isinstance(part, ImagePart))
