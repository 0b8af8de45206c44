"""How a document stands, as its prelude tells it: asked, or by itself with every frame it draws."""

from dataclasses import dataclass

ASK = "globalThis.__pilothouse ? __pilothouse.look() : null"
LATER = "globalThis.__pilothouse ? (__pilothouse.passed(), __pilothouse.look()) : null"
"""The same of a document for which time has passed, though it may never draw a frame."""
DREW = "__pilothouse_drawn"
"""By what a document tells of its frames; the prelude takes it away before the page sees it."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a document stands, by its prelude."""

    beats: int = 0
    """Frames it has drawn."""
    workers: int = 0
    """Workers whose time must be moved."""
    soon: float = 1e9
    """Game time until its next single timer is due (ms)."""
    now: int = 0
    """What time it is there (game time, ms)."""
    display: bool = False
    """Whether all its frames must come to be on display: what WebGL draws is added to until it was shown."""
    loaded: bool = False
    """Whether it has all it began with."""
    title: str = ""

    @classmethod
    def read(cls, said: object) -> "Look | None":
        """What a document said; None where it said nothing of that kind."""
        words = str(said).split(" ", 6)
        try:
            beats, workers, soon, now, display, loaded, title = words
            return cls(int(beats), int(workers), float(soon), int(now), display == "1", loaded == "1", title)
        except ValueError:
            return None
