"""How a document stands, as its prelude tells it: asked, or by itself with every frame it draws."""

from dataclasses import dataclass

STATE_SCRIPT = "globalThis.__pilothouse ? __pilothouse.look() : null"
STATE_AFTER_TIME_SCRIPT = "globalThis.__pilothouse ? (__pilothouse.passed(), __pilothouse.look()) : null"
"""The same of a document for which time has passed, though it may never draw a frame."""
FRAME_BINDING = "__pilothouse_drawn"
"""By what a document tells of its frames; the prelude takes it away before the page sees it."""


@dataclass(frozen=True, slots=True)
class DocumentState:
    """How a document stands, by its prelude."""

    frame_count: int = 0
    """Frames it has drawn."""
    workers: int = 0
    """Workers whose time must be moved."""
    next_timer_ms: float = 1e9
    """Game time until its next single timer is due (ms)."""
    now: int = 0
    """What time it is there (game time, ms)."""
    requires_display: bool = False
    """Whether all its frames must come to be on display: what WebGL draws is added to until it was shown."""
    loaded: bool = False
    """Whether it has all it began with."""
    title: str = ""

    @property
    def must_be_seen(self) -> bool:
        """Whether its next frame is drawn for display, also where nobody looks."""
        return self.requires_display or self.workers > 0

    @classmethod
    def read(cls, text: object) -> "DocumentState | None":
        """What a document said; None where it said nothing of that kind."""
        words = str(text).split(" ", 6)
        try:
            frame_count, workers, next_timer_ms, now, requires_display, loaded, title = words
            return cls(
                int(frame_count),
                int(workers),
                float(next_timer_ms),
                int(now),
                requires_display == "1",
                loaded == "1",
                title,
            )
        except ValueError:
            return None
