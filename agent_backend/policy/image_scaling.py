"""Checks whether a server scales pictures as a dialect assumes, from the prompt tokens that it reports."""

from collections.abc import Sequence
from itertools import groupby

from protocol.dialects.coordinates import RESIZE_FACTOR, smart_resize
from protocol.dialects.dialect import ChatMessage, ImagePart
from protocol.trajectory.observations import Observation
from protocol.trajectory.proposals import ImageLimits
from protocol.trajectory.steps import Step

MIN_IMAGE_TOKENS = 4
"""A run of one token of this length may be a picture; the smallest picture of the family has more."""


def image_sizes(
    messages: Sequence[ChatMessage], steps: Sequence[Step], observation: Observation
) -> tuple[tuple[int, int], ...]:
    """Height and width of each picture of a prompt, in order."""
    observations = (*(step.before for step in steps), observation)
    known = {
        screen.screenshot: (screen.height, screen.width) for screen in observations if screen.screenshot is not None
    }
    parts = (part for message in messages for part in message.content)
    return tuple(known[part.image] for part in parts if isinstance(part, ImagePart))


def image_token_count(height: int, width: int, limits: ImageLimits) -> int:
    """The number of tokens of one picture. Raises ValueError for one over 200 to 1."""
    rows, columns = smart_resize(height, width, min_pixels=limits.min_pixels, max_pixels=limits.max_pixels)
    return rows * columns // RESIZE_FACTOR**2


def scaling_mismatch(ids: Sequence[int], sizes: Sequence[tuple[int, int]], limits: ImageLimits) -> str:
    """The mismatch in how the server scaled these pictures; empty if there is none, or if it cannot be determined."""
    try:
        expected = [image_token_count(height, width, limits) for height, width in sizes]
    except ValueError:
        return ""
    runs = [(token, len(list(run))) for token, run in groupby(ids)]
    if not expected or not runs:
        return ""
    pad, longest = max(runs, key=lambda run: run[1])
    found = [length for token, length in runs if token == pad and length >= MIN_IMAGE_TOKENS]
    if longest < MIN_IMAGE_TOKENS or len(found) != len(expected) or found == expected:
        return ""
    wrong = next(index for index, pair in enumerate(zip(found, expected, strict=True)) if pair[0] != pair[1])
    return (
        f"The server reads this screen as {found[wrong]} tokens where {expected[wrong]} are expected: it scales "
        f"pictures otherwise, so that points may be off. Its processor's limits must be {limits.min_pixels} to "
        f"{limits.max_pixels} pixels."
    )
