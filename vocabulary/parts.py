"""What stands on a page and where, as its browser knows it: told to who teaches reading, never to a policy."""

from typing import Literal

from vocabulary.base import Frozen

PartKind = Literal["button", "checkbox", "radio", "link", "text"]
Box = tuple[float, float, float, float]
"""Left, top, right, bottom, in pixels of the page."""


class Part(Frozen):
    """One line of text that can be seen."""

    kind: PartKind
    text: str
    bounds: tuple[float, ...]
    """Where each of its letters begins, and where the last one ends."""
    line: tuple[float, float]
    """The top and the bottom of its letters."""
    box: Box
    """Where a click counts for it: the button, the line, or the text alone."""


class Parts(Frozen):
    """All that can be read on a page, in `Observation.accessibility`."""

    format: Literal["pilothouse-parts-1"] = "pilothouse-parts-1"
    parts: tuple[Part, ...]
