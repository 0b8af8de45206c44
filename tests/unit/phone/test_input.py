"""Actions in the words of a phone's own commands."""

import pytest

from protocol.actions.inputs import Direction
from protocol.actions.types import Click, Drag, LongPress, Point, PressBack, PressHome, Scroll, Swipe
from vm_bridge.drivers.phone.input import (
    TouchAction,
    find_package,
    key_arguments,
    scroll_path,
    text_arguments,
    touch_arguments,
)
from vm_bridge.errors import ActionFailed

SIZE = (400, 900)
HERE, THERE = Point(x=10, y=20), Point(x=30, y=40)


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (Click(x=1, y=2), "tap 1 2"),
        (LongPress(x=1, y=2, seconds=1.5), "swipe 1 2 1 2 1500"),
        (Swipe(start=HERE, end=THERE), "swipe 10 20 30 40 300"),
        (Drag(start=HERE, end=THERE), "swipe 10 20 30 40 1000"),
        (PressHome(), "keyevent HOME"),
        (PressBack(), "keyevent BACK"),
    ],
)
def test_touches(action: TouchAction, words: str) -> None:
    assert touch_arguments(action, SIZE) == tuple(words.split())


@pytest.mark.parametrize(("direction", "dx", "dy"), [("down", 0, -1), ("up", 0, 1), ("right", -1, 0), ("left", 1, 0)])
@pytest.mark.parametrize("at", [None, Point(x=0, y=0), Point(x=399, y=899)])
def test_the_finger_slides_against_the_scroll_and_stays_on_the_screen(
    direction: Direction, dx: int, dy: int, at: Point | None
) -> None:
    start, end = scroll_path(Scroll(direction=direction, amount=5, point=at), SIZE)
    assert (_sign(end.x - start.x), _sign(end.y - start.y)) == (dx, dy)
    assert all(0 <= point.x < SIZE[0] and 0 <= point.y < SIZE[1] for point in (start, end))


def test_more_notches_slide_farther_up_to_a_bound() -> None:
    lengths = [
        abs(a.y - b.y) for a, b in (scroll_path(Scroll(direction="down", amount=n), SIZE) for n in (1, 3, 7, 99))
    ]
    assert lengths == [90, 270, 630, 630]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a b", [("text", "a%sb")]),
        ("100%sure", [("text", "100%"), ("text", "sure")]),
        ("hi\n", [("text", "hi"), ("keyevent", "ENTER")]),
        ("a\tb", [("text", "a"), ("keyevent", "TAB"), ("text", "b")]),
        ("$(reboot); 'x' \"y\"", [("text", "$(reboot);%s'x'%s\"y\"")]),
        ("", []),
    ],
)
def test_typed_text(text: str, words: list[tuple[str, ...]]) -> None:
    assert list(text_arguments(text)) == words


def test_long_text_goes_in_pieces() -> None:
    pieces = list(text_arguments("x" * 1201))
    assert [len(text) for _, text in pieces] == [500, 500, 201]


def test_keys() -> None:
    assert key_arguments(("enter",)) == ("keyevent", "ENTER")
    assert key_arguments(("a",)) == ("keyevent", "A")
    assert key_arguments(("ctrl", "a")) == ("keycombination", "CTRL_LEFT", "A")
    assert key_arguments(("/",)) == ("text", "/")
    with pytest.raises(ActionFailed):
        key_arguments(("ctrl", "/"))


PACKAGES = ("org.example.contacts", "com.android.chrome", "com.vendor.notes", "org.other.notes")
NAMES = {"contacts": "org.example.contacts", "通讯录": "org.example.contacts", "gone": "org.example.gone"}


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("com.vendor.notes", "com.vendor.notes"),
        ("Contacts", "org.example.contacts"),
        ("通讯录", "org.example.contacts"),
        ("Chrome", "com.android.chrome"),
        ("notes", None),
        ("gone", None),
        ("", None),
    ],
)
def test_an_app_goes_by_its_package_its_name_or_the_only_part(name: str, package: str | None) -> None:
    assert find_package(name, PACKAGES, NAMES) == package


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
