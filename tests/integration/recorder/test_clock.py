"""Times of input at a real X server whose first answers are slow, as on a busy machine."""

import time
from dataclasses import replace

import pytest

from benchmarks.parts.recorder.desktop import Desktop
from recorder.pilothouse_recorder.adapters import open_desktop
from recorder.pilothouse_recorder.clocks import MS, ClockSample
from recorder.pilothouse_recorder.events import Event
from recorder.pilothouse_recorder.x11.desktop import CLOCK_ERROR_NS
from recorder.pilothouse_recorder.x11.windows import WindowWatcher
from tests.waiting import wait_until


def test_input_has_a_time_before_what_came_after_it(
    environment: dict[str, str], desktop: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    delays = iter([100 * MS])
    sample_clock = WindowWatcher.sample_clock

    def sample_slowly(self: WindowWatcher) -> ClockSample:
        taken = sample_clock(self)
        return replace(taken, after_ns=taken.after_ns + next(delays, 0))

    monkeypatch.setattr(WindowWatcher, "sample_clock", sample_slowly)
    monkeypatch.setenv("DISPLAY", environment["DISPLAY"])
    recorded = open_desktop()
    desktop.type("a")
    pressed_ns = time.monotonic_ns()
    found: list[Event] = []

    def arrived() -> bool:
        recorded.sync()
        found.extend(one.event for one in recorded.take_inputs() if one.event is not None)
        return any(event.kind == "key.down" for event in found)

    wait_until(arrived)
    recorded.close()
    (down,) = (event for event in found if event.kind == "key.down")
    assert down.t_ns <= pressed_ns + CLOCK_ERROR_NS
