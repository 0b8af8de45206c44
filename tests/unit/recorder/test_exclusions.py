"""What is excluded, and when recording closes and opens."""

from dataclasses import replace

import pytest

from recorder.pilothouse_recorder.clocks import SECOND
from recorder.pilothouse_recorder.delay_buffer import DELAY_NS, DelayBuffer
from recorder.pilothouse_recorder.events import Event
from recorder.pilothouse_recorder.exclusions import REOPEN_NS, ExclusionRules, Gate, WindowInfo, is_excluded

WINDOW = WindowInfo(
    client=1, classes=("navigator", "firefox"), title="News — Mozilla Firefox", visible=True, top_level=True
)
RULES = ExclusionRules()


@pytest.mark.parametrize(
    "window",
    [
        replace(WINDOW, client=2, classes=("keepassxc", "keepassxc")),
        replace(WINDOW, client=2, classes=("ssh-askpass",)),
        replace(WINDOW, client=2, classes=("pinentry-gtk-2", "pinentry-gtk-2")),
        replace(WINDOW, title="News — Mozilla Firefox Private Browsing"),
        replace(WINDOW, title="New Tab - Google Chrome (Incognito)"),
        replace(WINDOW, title="新标签页 - 无痕模式"),
    ],
)
def test_the_defaults_exclude_password_programs_and_private_windows(window: WindowInfo) -> None:
    assert is_excluded([WINDOW, window], RULES)
    assert not is_excluded([WINDOW, replace(window, visible=False)], RULES)


def test_a_menu_of_an_excluded_application_is_excluded() -> None:
    hidden = replace(WINDOW, client=2, classes=("keepassxc",), visible=False)
    menu = WindowInfo(client=2, classes=(), title="", visible=True, top_level=True)
    assert is_excluded([hidden, menu], RULES)
    assert not is_excluded([hidden, replace(menu, client=3)], RULES)


def test_sites_are_excluded_by_title_in_any_case() -> None:
    rules = ExclusionRules(titles=("*My BANK*",))
    assert is_excluded([replace(WINDOW, title="my bank - Firefox")], rules)
    assert not is_excluded([WINDOW], rules)


def test_the_gate_closes_at_once_and_opens_after_a_while() -> None:
    gate = Gate()
    assert not gate.open
    assert not gate.update(0, None)
    assert gate.update(REOPEN_NS, None)
    assert gate.open
    assert gate.update(REOPEN_NS + 1, "excluded")
    assert not gate.update(REOPEN_NS + 2, None)
    assert not gate.update(REOPEN_NS + 3, "password")
    assert not gate.update(2 * REOPEN_NS + 3, None)
    assert gate.reason == "password"
    assert gate.update(3 * REOPEN_NS + 3, None)


def test_events_wait_and_leave_in_order_of_time() -> None:
    buffer = DelayBuffer()
    late, early, new = (Event("pointer.move", t * SECOND, "x_server", 0) for t in (2, 1, 3))
    for event in (late, early, new):
        buffer.add(event)
    assert buffer.release(2 * SECOND + DELAY_NS) == [(early, b""), (late, b"")]
    buffer.drop()
    assert not buffer.release(9 * SECOND)
