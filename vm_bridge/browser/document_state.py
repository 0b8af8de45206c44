"""The state of a document as its prelude reports it: on request, and with every frame it draws."""

from dataclasses import dataclass

STATE_SCRIPT = "globalThis.__pilothouse ? __pilothouse.look() : null"
STATE_AFTER_TIME_SCRIPT = "globalThis.__pilothouse ? (__pilothouse.passed(), __pilothouse.look()) : null"
"""The same report from a document for which time has passed, even if it never draws a frame."""
FRAME_BINDING = "__pilothouse_drawn"
"""The binding through which a document reports its frames. The prelude removes it before the page sees it."""


@dataclass(frozen=True, slots=True)
class DocumentState:
    """The state of a document, from its prelude."""

    frame_count: int = 0
    """Frames it has drawn."""
    workers: int = 0
    """Workers whose time must be advanced."""
    next_timer_ms: float = 1e9
    """Game time until its next one-shot timer is due (ms)."""
    now: int = 0
    """The document's time (game time, ms)."""
    requires_display: bool = False
    """Whether all its frames must be displayed: WebGL drawing accumulates until it was displayed."""
    loaded: bool = False
    """Whether its initial resources are loaded."""
    title: str = ""

    @property
    def must_be_seen(self) -> bool:
        """Whether its next frame must be drawn for display even without viewers."""
        return self.requires_display or self.workers > 0

    @classmethod
    def read(cls, text: object) -> "DocumentState | None":
        """Parse a document's report. Returns None for anything else."""
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
