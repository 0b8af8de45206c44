"""What a machine shows: one frame of its screen, whether it had settled, and the text layout of a browser's page."""

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints

from protocol.base import FrozenModel
from protocol.blobs import BlobRef

Platform = Literal["desktop", "phone", "browser", "terminal"]

Rest = Literal["rested", "hurried", "timeout", "skipped"]
"""How a settle ended: the screen rested; `hurry` cut it short; its bound ran out; not asked for."""


ClockMode = Literal["exact", "script", "real"]
"""Whose time a page lives in: given frame by frame, given to its scripts, or everybody's."""

MAX_TIME_SCALE = 16.0
"""The fastest that a page's time may go between two acts."""

PageEventKind = Literal[
    "popup",
    "popup_refused",
    "dialog",
    "download",
    "file_chooser",
    "permission",
    "print",
    "navigated",
    "load_failed",
    "closed",
    "crashed",
    "restored",
    "limit",
    "script_error",
    "other",
]


class Tab(FrozenModel):
    """One page a browser has open; `id` is what `switch_page` and `close_page` name."""

    id: str
    title: str
    url: str
    active: bool


class PageEvent(FrozenModel):
    """What a page or its browser did by itself; `kind` is stable, `text` is for people."""

    kind: PageEventKind
    text: str


class OfferedFile(FrozenModel):
    """A file that a page may be given; `name` is what `choose_files` names."""

    name: str
    media_type: str
    size: int = Field(ge=0)


class FileChooser(FrozenModel):
    """A page asks for files, and waits for them."""

    several: bool
    """Whether it takes more than one."""
    files: tuple[OfferedFile, ...]
    """What it may have."""


class BrowserPage(FrozenModel):
    """How the active page of a browser stands, and in which time it lives."""

    title: str
    clock: ClockMode
    seed: int
    """Of everything that is random in it."""
    time_ms: float = Field(ge=0)
    """Its own time since the task began; the policy's acts and waits are what it goes by."""
    pace: float = Field(default=0, ge=0, le=MAX_TIME_SCALE)
    """How fast its time goes between two acts: 0 where it stands still, 1 as fast as everybody's."""
    score: float | None = None
    level: int | None = None
    done: bool = False
    """Whether it has ended by itself."""
    truncated: bool = False
    """Whether its task's time ran out before it ended."""
    success: bool | None = None
    """How it ended, where it says so."""
    verifier_error: str | None = None
    """How what judges it failed, where it did: then nobody knows how it stands."""
    description: str | None = None
    """The page's description of its screen, if its task asks for one (`described`)."""
    tabs: tuple[Tab, ...] = ()
    chooser: FileChooser | None = None
    """What the active page asks for, where it asks for files."""
    events: tuple[PageEvent, ...] = ()
    """What happened since the look before."""

    @property
    def over(self) -> bool:
        """Whether nothing is left to do in it."""
        return self.done or self.truncated


class Observation(FrozenModel):
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
    application: str | None = None
    """The application in front, as the machine names it (on Linux the class of its window, such as `xterm`); None where
    it does not tell."""
    text: str | None = None
    """Output of a tool, a command or the clipboard, when the act had any; what a terminal shows."""
    attachment: BlobRef | None = None
    """The file an act brought out, or the picture its code drew."""
    page: BrowserPage | None = None
    """Of a browser: how its page stands."""

    def without_navigation(self) -> Self:
        """A fresh screen without the news that its page was opened: whoever begins did not do that, and the address
        may name the task."""
        if self.page is None:
            return self
        events = tuple(event for event in self.page.events if event.kind != "navigated")
        return self.model_copy(update={"page": self.page.model_copy(update={"events": events})})


class ActionError(FrozenModel):
    """Why an act failed inside the machine; `code` is stable, `message` is for people."""

    code: str
    message: str


class MachineSnapshot(FrozenModel):
    """A state of one machine that it may be put back into, until its task is set up anew."""

    id: Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]{1,64}$")]
    acts: Annotated[int, Field(ge=0)]
    """How many acts were done since the task was set up."""
    taken_at: datetime


class Transition(FrozenModel):
    """What an act did: the frame really acted on, and the settled frame after it."""

    before: Observation
    after: Observation
    error: ActionError | None = None
    started_at: datetime
    ended_at: datetime
    snapshot: MachineSnapshot | None = None
    """The way back to before the act, where it was asked for and there is one."""
    timer_pending: bool = False
    """Whether a program has set itself a time that was not waited for: then it may change the screen."""


class Verdict(FrozenModel):
    """A verifier's judgement of a final state; `success` is None where nothing can judge."""

    success: bool | None
    score: float = Field(ge=0, le=1)
    reason: str = ""
    verifier: str = ""
    """The sha256 of what judged, where it is a script of its own."""
    version: str = ""
    """The version of the task that was judged, where it has one."""
    points: float | None = None
    """The task's own count, such as tiles, apples or lines."""
    error: str = ""
    """Why the verifier could not judge, as a stable code: it failed, or its machine did not answer. Such an end says
    nothing of who acted."""


TextElementKind = Literal["button", "checkbox", "radio", "link", "text"]
BoundingBox = tuple[float, float, float, float]
"""Left, top, right, bottom, in pixels of the page."""


class TextElement(FrozenModel):
    """One line of text that can be seen."""

    kind: TextElementKind
    text: str
    bounds: tuple[float, ...]
    """Where each of its letters begins, and where the last one ends."""
    line: tuple[float, float]
    """The top and the bottom of its letters."""
    box: BoundingBox
    """Where a click counts for it: the button, the line, or the text alone."""


class PageLayout(FrozenModel):
    """All that can be read on a page, in `Observation.accessibility`."""

    format: Literal["pilothouse-parts-1"] = "pilothouse-parts-1"
    parts: tuple[TextElement, ...]
