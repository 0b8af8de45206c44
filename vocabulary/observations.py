"""What a machine shows: one frame of its screen, and whether it had come to rest."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from vocabulary.base import Frozen
from vocabulary.blobs import BlobRef

Platform = Literal["desktop", "phone", "browser", "terminal"]

Rest = Literal["rested", "hurried", "timeout", "skipped"]
"""How a settle ended: the screen rested; `hurry` cut it short; its bound ran out; not asked for."""


class Observation(Frozen):
    """One look at a machine; `screenshot` is None where the machine has no picture."""

    screenshot: BlobRef | None
    width: int = Field(ge=0)
    height: int = Field(ge=0)
    captured_at: datetime
    settled: bool
    rest: Rest
    settle_ms: float = Field(ge=0)
    accessibility: str | None = None
    url: str | None = None
    text: str | None = None
    """Output of a tool, a command or the clipboard, when the act had any; what a terminal shows."""
    attachment: BlobRef | None = None
    """The file an act brought out, or the picture its code drew."""


class ActionError(Frozen):
    """Why an act failed inside the machine; `code` is stable, `message` is for people."""

    code: str
    message: str


class Transition(Frozen):
    """What an act did: the frame really acted on, and the settled frame after it."""

    before: Observation
    after: Observation
    error: ActionError | None = None
    started_at: datetime
    ended_at: datetime


class Verdict(Frozen):
    """A verifier's judgement of a final state; `success` is None where nothing can judge."""

    success: bool | None
    score: float = Field(ge=0, le=1)
    reason: str = ""
