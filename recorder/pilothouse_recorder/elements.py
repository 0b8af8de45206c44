"""The element under the pointer and the focused password field, from accessibility.

A separate thread asks for them, so that input and pictures never wait for another program.
"""

import queue
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from .clocks import MS, SECOND, now_ns
from .errors import RecorderError
from .events import Event

TIME_BOX_NS = 50 * MS
"""Timeout of one query. Slow programs have no elements in the recording."""
TRIES = 3
"""Maximum queries for one element: a program may be busy with the press itself."""
LATEST_NS = 300 * MS
"""An element that arrives later than this after the press is not stored: it may be a different element by then."""
FOCUS_NS = 50 * MS
"""Interval between two checks of the focus."""
MAX_WAITING = 20
MAX_INSERTIONS = 1_000
TITLED = frozenset({"window", "dialog", "titlebar", "pane", "application", "alert"})
"""Roles whose name is the title of a window or a page. It is not stored, and a click on one carries no information."""
MAX_TEXT = 200
"""Maximum length of an element's name or role."""


@dataclass(frozen=True)
class Element:
    """A part of a program's window, as the program describes it. `bounds` are x, y, width and height in pixels of the
    picture.
    """

    role: str
    name: str
    bounds: tuple[int, int, int, int]


@dataclass(frozen=True)
class Insertion:
    """A text that appeared at the focus, and when the program reported it."""

    text: str
    t_ns: int


class ElementFinder(Protocol):
    """Queries programs for their elements. Calls return by `deadline_ns`, and come from one thread."""

    def element_at(self, x: int, y: int, pid: int, deadline_ns: int) -> Element | None:
        """The innermost element of this program at a point, or None if it does not answer in time."""

    def has_password_focus(self, deadline_ns: int) -> bool:
        """Whether a password field has the focus."""

    def take_insertions(self) -> list[Insertion]:
        """Texts that programs reported as inserted into the focused element since the last call."""

    def close(self) -> None:
        """End it."""


class ElementWatcher:
    """Queries a finder on its own thread. Without a finder it knows nothing.

    Args:
        open_finder: Creates the finder on the thread that uses it. Raises RecorderError or OSError if the desktop has
            no accessibility.
    """

    def __init__(self, open_finder: Callable[[], ElementFinder]) -> None:
        self._open_finder = open_finder
        self._wanted: queue.Queue[tuple[Event, int] | None] = queue.Queue(MAX_WAITING)
        self._ended = threading.Event()
        self._insertions: deque[Insertion] = deque(maxlen=MAX_INSERTIONS)
        self.password_focused = False
        """Whether a password field has the focus."""
        self._thread = threading.Thread(target=self._run, name="elements", daemon=True)
        self._thread.start()

    def describe(self, event: Event, pid: int) -> None:
        """Add the element at the event's point to its data, if it is known soon. Does not wait."""
        try:
            self._wanted.put_nowait((event, pid))
        except queue.Full:
            return  # slow programs have no elements

    def take_insertions(self) -> list[Event]:
        """Texts that were inserted since the last call, typed or not."""
        taken = [self._insertions.popleft() for _ in range(len(self._insertions))]
        return [Event("text.inserted", one.t_ns, "receipt", FOCUS_NS, {"text": one.text}) for one in taken]

    def close(self) -> None:
        """End the thread."""
        self._ended.set()
        with suppress(queue.Full):  # the thread checks `_ended` after each query
            self._wanted.put_nowait(None)
        self._thread.join(2.0)

    def _run(self) -> None:
        try:
            finder = self._open_finder()
        except (RecorderError, OSError):
            return
        try:
            while not self._ended.is_set():
                self._work(finder)
        except (RecorderError, OSError):
            pass
        finally:
            self.password_focused = False
            finder.close()

    def _work(self, finder: ElementFinder) -> None:
        try:
            wanted = self._wanted.get(timeout=FOCUS_NS / SECOND)
        except queue.Empty:
            wanted = None
        if wanted is not None:
            event, pid = wanted
            if now_ns() - event.t_ns <= LATEST_NS:
                self._describe(finder, event, pid)
        self.password_focused = finder.has_password_focus(now_ns() + TIME_BOX_NS)
        insertions = finder.take_insertions()
        if not self.password_focused:
            self._insertions.extend(insertions)

    def _describe(self, finder: ElementFinder, event: Event, pid: int) -> None:
        for _ in range(TRIES):
            deadline_ns = now_ns() + TIME_BOX_NS
            element = finder.element_at(event.data["x"], event.data["y"], pid, deadline_ns)
            if element is not None or now_ns() < deadline_ns:
                break  # the element is known, or there is none
        late_ns = now_ns() - event.t_ns
        if element is not None and late_ns <= LATEST_NS and not _is_titled(element.role):
            event.data["element"] = {
                "role": _clean(element.role),
                "name": _clean(element.name),
                "bounds": list(element.bounds),
                "late_ns": max(0, late_ns),
            }


def _is_titled(role: str) -> bool:
    return role in TITLED or role.startswith("document")


def _clean(text: str) -> str:
    return text.replace("\0", "")[:MAX_TEXT]
