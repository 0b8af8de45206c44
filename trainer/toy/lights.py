"""Four corners, each with a colour. Pointing three times at the corner whose colour is lit wins; two misses lose.

A pure function of a seed and the replies. Only the end is rewarded. A miss shows in the picture as a dark frame. A
reply that cannot be read loses a turn, and the turns are bounded.
Where a tool is offered too, it presses the right corner once: the task can be done both ways.
"""

import hashlib
import io
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from PIL import Image

NAMES = ("NW", "NE", "SW", "SE")
PRESS = "press"
"""The tool's name, and what a reply that calls it ends with."""
SIZE = 56
"""Pixels of the picture's edge: four tokens of a Qwen2.5-VL."""
HITS, MISSES, TURNS = 3, 2, 6
"""So many win, so many lose, and after so many turns it is cut off."""
COLOURS = ((220, 60, 60), (60, 190, 80), (70, 90, 220), (220, 200, 60))
"""Of the corners, in the order of their names."""
FRAME = 6
GRAINS = 6
"""So many pictures there are of the same."""


@dataclass(frozen=True)
class Lights:
    """The state of an attempt."""

    seed: int
    hits: int = 0
    misses: int = 0
    turns: int = 0
    presses: int = 0
    """So often the tool still does something."""

    @property
    def lit(self) -> int:
        """Whose colour shines; it may change with every hit."""
        return self._draw("lit")[0] % len(NAMES)

    @property
    def won(self) -> bool:
        """Whether the task was done."""
        return self.hits >= HITS

    @property
    def terminated(self) -> bool:
        """Whether it ended by itself."""
        return self.won or self.misses >= MISSES

    @property
    def truncated(self) -> bool:
        """Whether it was cut off, with more to come."""
        return not self.terminated and self.turns >= TURNS

    def pointed(self, corner: int | None) -> "Lights":
        """After a turn; None where nothing could be read."""
        hit = corner == self.lit
        missed = corner is not None and not hit
        return replace(self, hits=self.hits + hit, misses=self.misses + missed, turns=self.turns + 1)

    def pressed(self) -> "Lights":
        """After a turn in which the tool was called; one that is used up does nothing."""
        does = self.presses > 0
        return replace(self, hits=self.hits + does, presses=self.presses - does, turns=self.turns + 1)

    def png(self) -> bytes:
        """What is seen."""
        return _picture(self.lit, self.misses > 0, self._draw(f"grain {self.turns}")[0] % GRAINS)

    def _draw(self, what: str) -> bytes:
        return hashlib.blake2b(f"{self.seed} {self.hits} {what}".encode(), digest_size=8).digest()


@cache
def _picture(lit: int, framed: bool, grain: int) -> bytes:
    """One of the pictures there are."""
    pixels = np.zeros((SIZE, SIZE, 3), np.int16)
    edge = FRAME if framed else 0
    pixels[edge : SIZE - edge, edge : SIZE - edge] = COLOURS[lit]
    pixels += np.random.default_rng(grain).integers(-12, 13, pixels.shape, np.int16)
    data = io.BytesIO()
    Image.fromarray(pixels.clip(0, 255).astype(np.uint8)).save(data, "PNG")
    return data.getvalue()


def parse_reply(reply: str) -> tuple[str, int | None]:
    """The thought, and the corner that was named last; None where the reply does not end with a name."""
    words = reply.split()
    if not words or words[-1] not in NAMES:
        return reply.strip(), None
    return " ".join(words[:-1]), NAMES.index(words[-1])


def calls_tool(reply: str) -> bool:
    """Whether a reply calls the tool."""
    return reply.split()[-1:] == [PRESS]


def corner_point(corner: int) -> tuple[int, int]:
    """A pixel in a corner."""
    row, column = divmod(corner, 2)
    return (SIZE // 4 + column * SIZE // 2, SIZE // 4 + row * SIZE // 2)
