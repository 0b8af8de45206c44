"""Implements the desktop interface for Windows."""

import select
from collections.abc import Callable, Sequence
from dataclasses import replace

from ..clocks import MS, WRAP, ClockSample, ServerClock, now_ns
from ..desktop import OWN_CLASS, Input, Picture
from ..elements import Element, ElementWatcher, Insertion
from ..errors import RecorderError
from ..events import Event
from ..exclusions import WindowInfo
from ..layout import Layout, Monitor
from ..own_window import own_window_pid
from .calls import OBJECT_SHOW, ElementRecord, Rectangle, WindowRecord, WindowsCalls
from .keys import CAPS_LOCK, NUM_LOCK
from .roles import ROLES
from .translation import InputTranslator

TICK_STEP_NS = 17 * MS
"""Largest step of GetTickCount: 15.6 ms, of which it shows whole milliseconds."""
PROGRAM_SUFFIX = ".exe"
NO_SCREEN: Rectangle = (0, 0, 0, 0)


class WindowsDesktop:
    """The desktop of a person signed in to Windows 10 or 11."""

    def __init__(self, calls: WindowsCalls) -> None:
        self._calls = calls
        self._own_pid = own_window_pid()
        self._screen, self._layout = NO_SCREEN, Layout(())
        self._records: tuple[WindowRecord, ...] = ()
        self._windows: tuple[WindowInfo, ...] = ()
        self.changes = 0
        self.flashes = 0
        self.sync()
        self._clock = self._start_clock()
        self._translator = InputTranslator(
            calls.key_text,
            lambda x, y: self._layout.pixel(x, y),
            lambda tick: self._clock.at(tick),
            frozenset(key for key in (CAPS_LOCK, NUM_LOCK) if calls.toggled(key)),
        )
        self._elements = ElementWatcher(lambda: AutomationFinder(calls, lambda: self._layout))

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of all monitors together, in physical pixels at any scale."""
        return self._layout.size

    @property
    def windows(self) -> Sequence[WindowInfo]:
        """The windows as of the last `sync`. Their classes are the program's name and the window's class."""
        return self._windows

    @property
    def application(self) -> str:
        """The name of the foreground program, without `.exe`."""
        found = self._foreground
        return _program(found) if found is not None else ""

    @property
    def time_error_ns(self) -> int:
        """Largest error of an input's time."""
        return self._clock.error_ns

    def sync(self) -> None:
        """Update the windows and monitors."""
        if (screen := self._calls.screen()) != self._screen:
            left, top, right, bottom = screen
            self._screen, self._layout = screen, Layout((Monitor(left, top, right - left, bottom - top),))
        events = self._calls.take_window_events()
        self._records = tuple(self._calls.windows())
        self.changes += len(events)
        visible = {one.handle for one in self._records if one.visible}
        self.flashes += any(event == OBJECT_SHOW and handle not in visible for event, handle in events)
        self._windows = tuple(self._describe(one) for one in self._records)

    def take_inputs(self) -> list[Input]:
        """Input since the last call. Raises RecorderError with `no_input`."""
        alive, records = self._calls.hooks_alive(), self._calls.take_hook_records()
        if not alive and not records:
            raise RecorderError("no_input", "Windows reports no input any more.")
        own = {one.handle for one in self._records if self._own_pid and one.pid == self._own_pid}
        return [
            replace(one, own=record.foreground in own)
            for record in records
            for one in self._translator.translate(record)
        ]

    def take_damage(self) -> bool:
        """Windows does not report drawing through GDI, so each picture is compared with the previous one."""
        return True

    def grab(self) -> Picture | None:
        """The screen, or None if Windows does not allow reading it."""
        pixels = self._calls.copy_screen(self._screen)
        return None if pixels is None else Picture(pixels, *self.size)

    def is_own_at(self, x: int, y: int) -> bool:
        """Whether the topmost window at this point is the recorder's."""
        found = self._window_at(x, y)
        return found is not None and found.pid == self._own_pid

    def asks_for_password(self) -> bool:
        """Whether a password field has the focus, according to UI Automation."""
        return self._elements.password_focused

    def describe_element(self, event: Event) -> None:
        """Request the element in the background."""
        found = self._window_at(event.data["x"], event.data["y"])
        if found is not None:
            self._elements.describe(event, found.pid)

    def sample_clock(self) -> None:
        """Compare the tick count with the recorder's clock."""
        self._clock.add(self._sample())

    def suspended_ns(self) -> int:
        """How long this computer slept."""
        return self._calls.suspended_ns()

    def wait(self, control: int, seconds: float) -> None:
        """Wait until a command arrives or `seconds` pass."""
        select.select([control], [], [], seconds)

    def close(self) -> None:
        """Remove the hooks."""
        self._elements.close()
        self._calls.close()

    @property
    def _foreground(self) -> WindowRecord | None:
        handle = self._calls.foreground()
        return next((one for one in self._records if one.handle == handle), None)

    def _window_at(self, x: int, y: int) -> WindowRecord | None:
        left, top = (x + self._screen[0], y + self._screen[1])
        return next((one for one in self._records if one.visible and _contains(one.rectangle, left, top)), None)

    def _start_clock(self) -> ServerClock:
        """Compare the clocks until the tick count steps. The moment of a step bounds the offset best, and shows the
        step's size.
        """
        samples = [self._sample()]
        while samples[-1].after_ns - samples[0].before_ns < 2 * TICK_STEP_NS:
            samples.append(self._sample())
            if samples[-1].server_ms != samples[-2].server_ms:
                break
        stepped_ms = (samples[-1].server_ms - samples[0].server_ms) % WRAP
        clock = ServerClock(samples[0], min(TICK_STEP_NS, (stepped_ms + 1) * MS) if stepped_ms else TICK_STEP_NS)
        for sample in samples[-2:]:
            clock.add(sample)
        return clock

    def _sample(self) -> ClockSample:
        before = now_ns()
        tick = self._calls.tick_count()
        return ClockSample(before, tick, now_ns())

    def _describe(self, one: WindowRecord) -> WindowInfo:
        names = (_program(one), one.class_name.lower(), *([OWN_CLASS] if one.pid == self._own_pid else []))
        return WindowInfo(client=one.pid, classes=names, title=one.title, visible=one.visible, top_level=True)


class AutomationFinder:
    """Elements from UI Automation. It has no timeout of its own; late answers are dropped."""

    def __init__(self, calls: WindowsCalls, layout: Callable[[], Layout]) -> None:
        self._calls, self._layout = calls, layout

    def element_at(self, x: int, y: int, pid: int, deadline_ns: int) -> Element | None:
        """The element at a pixel of the picture."""
        left, top = self._layout().point(x, y)
        found = self._calls.element_at(int(left), int(top))
        return None if found is None or now_ns() > deadline_ns else self._describe(found)

    def take_insertions(self) -> list[Insertion]:
        """Always empty: key events already contain the text that they write."""
        return []

    def has_password_focus(self, deadline_ns: int) -> bool:
        """Whether the element with the focus is a password field."""
        found = self._calls.focused_element()
        return found is not None and found.is_password

    def close(self) -> None:
        """Does nothing: there are no resources to release."""

    def _describe(self, found: ElementRecord) -> Element:
        left, top, right, bottom = found.rectangle
        role = "password" if found.is_password else ROLES.get(found.control_type, "custom")
        return Element(role, found.name, self._layout().bounds(left, top, right - left, bottom - top))


def _program(one: WindowRecord) -> str:
    return one.program.lower().removesuffix(PROGRAM_SUFFIX)


def _contains(rectangle: Rectangle, x: int, y: int) -> bool:
    left, top, right, bottom = rectangle
    return left <= x < right and top <= y < bottom
