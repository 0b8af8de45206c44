"""Implements the desktop interface for X11."""

import select
import time
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from Xlib.error import ConnectionClosedError

from ..clocks import MS, SAMPLES_USED, ServerClock
from ..desktop import OWN_CLASS, DesktopGone, Input, Picture
from ..elements import ElementWatcher
from ..errors import RecorderError
from ..events import Event
from ..exclusions import WindowInfo
from ..insertions import InsertionFilter
from ..terminal_echo import asks_for_password
from .accessibility import open_finder
from .inputs import FocusNotice, InputListener, RawInput
from .interpreter import KEY_PRESS, KEY_RELEASE, InputInterpreter, hotkey_of
from .screen import DamageWatcher, ScreenGrabber
from .windows import WindowWatcher

CLOCK_ERROR_NS = 2 * MS
"""Error of the X server's times from which the start takes no further sample. Input that is less than the error from a
pause may be counted to the other side of it.
"""
P = ParamSpec("P")
T = TypeVar("T")


def _needs_server(call: Callable[P, T]) -> Callable[P, T]:
    """Raise DesktopGone if the X server ended."""

    @wraps(call)
    def checked(*args: P.args, **more: P.kwargs) -> T:
        try:
            return call(*args, **more)
        except ConnectionClosedError:
            raise DesktopGone from None

    return checked


class X11Desktop:
    """An X11 session. Raises RecorderError if it cannot be recorded."""

    def __init__(self) -> None:
        self._windows = WindowWatcher()
        self._inputs = InputListener()
        self._damage = DamageWatcher()
        self._grabber = ScreenGrabber(*self._windows.size)
        self._clock = ServerClock(self._windows.sample_clock())
        self._clock.add_until(self._windows.sample_clock, CLOCK_ERROR_NS, SAMPLES_USED)
        self._interpreter = InputInterpreter(self._windows.key_mapping)
        self._elements = ElementWatcher(open_finder)
        self._insertions = InsertionFilter()
        self._windows.sync()
        self._own_focused = self._windows.focused[0] == OWN_CLASS
        self._keys_follow_pointer = self._windows.keys_follow_pointer

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the whole screen."""
        return self._windows.size

    @property
    def windows(self) -> tuple[WindowInfo, ...]:
        """The windows as of the last `sync`."""
        return self._windows.windows

    @property
    def changes(self) -> int:
        """Number of times that windows appeared, disappeared or moved."""
        return self._windows.changes

    @property
    def flashes(self) -> int:
        """Number of times that windows appeared and disappeared between two calls of `sync`."""
        return self._windows.flashes

    @property
    def application(self) -> str:
        """The class of the focused window."""
        return self._windows.focused[0]

    @property
    def time_error_ns(self) -> int:
        """Largest error of the X server's times."""
        return self._clock.error_ns

    @_needs_server
    def sync(self) -> None:
        """One round trip. Afterwards everything drawn before it is known."""
        self._windows.sync()

    @_needs_server
    def take_inputs(self) -> list[Input]:
        """Input since the last call. Raises RecorderError with `no_input`."""
        alive, raw = self._inputs.alive, self._inputs.take()
        if not alive and not raw:
            self._windows.sync()  # raises if the X server ended
            raise RecorderError("no_input", "The X server reports no input any more.")
        if raw:
            self._windows.sync()  # applies the keyboard mapping from when the keys were pressed
        inputs = []
        for one in raw:
            if isinstance(one, FocusNotice):
                if one.window == self._windows.root_id:
                    self._keys_follow_pointer = one.focused
                elif self._windows.is_own(one.window):
                    self._own_focused = one.focused
            else:
                inputs.append(self._interpret(one))
                self._note_typing(inputs[-1])
        return inputs + [Input(one) for one in self._elements.take_insertions() if self._insertions.take(one)]

    @_needs_server
    def take_damage(self) -> bool:
        """Whether something was drawn since the last call."""
        return self._damage.take()

    @_needs_server
    def grab(self) -> Picture | None:
        """The screen, if the X server returns it."""
        if self._windows.size != (self._grabber.width, self._grabber.height):
            self._grabber.close()
            self._grabber = ScreenGrabber(*self._windows.size)
        grabbed = self._grabber.grab()
        return Picture(self._grabber.pixels, self._grabber.width, self._grabber.height) if grabbed else None

    @_needs_server
    def is_own_at(self, x: int, y: int) -> bool:
        """Whether the recorder's own window covers this point."""
        return self._windows.is_own_at(x, y)

    def asks_for_password(self) -> bool:
        """Whether a terminal reads a line without echo, or a password field has the focus by accessibility."""
        pid = self._windows.focused[1]
        return self._elements.password_focused or (bool(pid) and asks_for_password(pid))

    @_needs_server
    def describe_element(self, event: Event) -> None:
        """Request the element in the background."""
        pid = self._windows.pid_at(event.data["x"], event.data["y"])
        if pid:
            self._elements.describe(event, pid)

    @_needs_server
    def sample_clock(self) -> None:
        """Ask the X server for its time."""
        self._clock.add(self._windows.sample_clock())

    def suspended_ns(self) -> int:
        """The difference between the clock with sleep and the clock without it."""
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME) - time.clock_gettime_ns(time.CLOCK_MONOTONIC)

    def wait(self, control: int, seconds: float) -> None:
        """Wait until something was drawn or a command arrived. The X server sends input only while it handles requests,
        so the caller must come back soon.
        """
        select.select([self._damage.fileno(), control], [], [], seconds)

    def close(self) -> None:
        """Close every connection."""
        self._elements.close()
        self._inputs.close()
        self._damage.close()
        self._grabber.close()
        self._windows.close()

    def _interpret(self, one: RawInput) -> Input:
        return Input(
            self._interpreter.interpret(one, self._clock.at(one.server_ms)),
            hotkey_of(one, self._windows.key_mapping(one.detail)),
            own=one.type in (KEY_PRESS, KEY_RELEASE) and self._is_own_key(one),
        )

    def _note_typing(self, one: Input) -> None:
        if one.event is not None and not one.own:
            self._insertions.note(one.event)

    def _is_own_key(self, one: RawInput) -> bool:
        return self._own_focused or (self._keys_follow_pointer and self._windows.is_own_at(one.x, one.y))
