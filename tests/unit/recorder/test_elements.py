"""Elements are added to a press in the background, and only those that say something."""

import threading
from dataclasses import dataclass, field

import pytest

from recorder.pilothouse_recorder.clocks import now_ns
from recorder.pilothouse_recorder.elements import LATEST_NS, MAX_TEXT, MAX_WAITING, Element, ElementWatcher, Insertion
from recorder.pilothouse_recorder.events import Event
from tests.waiting import wait_until


@dataclass
class Finder:
    """Knows one element; waits while `held` is not set."""

    element: Element | None
    held: threading.Event = field(default_factory=threading.Event)
    asked: int = 0
    looked: int = 0
    closed: bool = False

    def element_at(self, x: int, y: int, pid: int, deadline_ns: int) -> Element | None:
        self.asked += 1
        self.held.wait(10)
        return self.element

    def has_password_focus(self, deadline_ns: int) -> bool:
        self.looked += 1
        return False

    def take_insertions(self) -> list[Insertion]:
        return []

    def close(self) -> None:
        self.closed = True


def press(late_ns: int = 0) -> Event:
    return Event("pointer.down", now_ns() - late_ns, "x_server", 0, {"x": 1, "y": 2})


def described(finder: Finder, *events: Event) -> None:
    watcher = ElementWatcher(lambda: finder)
    for one in events:
        watcher.describe(one, 1)
    finder.held.set()
    looked = finder.looked
    wait_until(lambda: finder.looked > looked + min(len(events), MAX_WAITING))
    watcher.close()
    assert finder.closed


def test_long_and_odd_texts_are_cut() -> None:
    event = press()
    described(Finder(Element("but\0ton", "x" * 900, (1, 2, 3, 4))), event)
    element = event.data["element"]
    assert (element["role"], len(element["name"]), element["bounds"]) == ("button", MAX_TEXT, [1, 2, 3, 4])


@pytest.mark.parametrize("role", ["window", "document web", "dialog"])
def test_titles_of_windows_and_pages_are_not_stored(role: str) -> None:
    event = press()
    described(Finder(Element(role, "root@host", (1, 2, 3, 4))), event)
    assert "element" not in event.data


def test_what_is_known_too_late_is_not_stored() -> None:
    event = press(late_ns=2 * LATEST_NS)
    finder = Finder(Element("button", "Save", (1, 2, 3, 4)))
    described(finder, event)
    assert finder.asked == 0
    assert "element" not in event.data


def test_a_program_that_hangs_holds_nothing_up() -> None:
    finder = Finder(None)
    described(finder, *(press() for _ in range(3 * MAX_WAITING)))
    assert finder.asked <= MAX_WAITING + 1


def test_a_finder_that_does_not_open_is_left_alone() -> None:
    def fail() -> Finder:
        raise OSError("no bus")

    watcher = ElementWatcher(fail)
    watcher.describe(press(), 1)
    watcher.close()
    assert not watcher.password_focused


def test_a_program_that_is_busy_with_the_press_is_asked_again() -> None:
    class Busy(Finder):
        """Answers the second time."""

        def element_at(self, x: int, y: int, pid: int, deadline_ns: int) -> Element | None:
            self.asked += 1
            if self.asked > 1:
                return self.element
            wait_until(lambda: now_ns() >= deadline_ns)
            return None

    event, finder = press(), Busy(Element("button", "Save", (1, 2, 3, 4)))
    described(finder, event)
    assert finder.asked == 2
    assert event.data["element"]["name"] == "Save"
