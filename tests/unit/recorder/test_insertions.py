"""Which inserted texts were typed: the others are not stored."""

from typing import Any

import pytest

from recorder.pilothouse_recorder.clocks import MS
from recorder.pilothouse_recorder.events import Event
from recorder.pilothouse_recorder.insertions import LATEST_NS, MAX_CHARACTERS, InsertionFilter


def key(text: str, at: int = 0, *modifiers: str) -> Event:
    return Event("key.down", at * MS, "x_server", MS, {"modifiers": list(modifiers), "text": text})


def told(text: str, at: int = 10) -> Event:
    return Event("text.inserted", at * MS, "receipt", 50 * MS, {"text": text})


def filtered(*events: Event) -> list[str]:
    """The insertions that are taken."""
    own = InsertionFilter()
    taken = []
    for event in events:
        if event.kind != "text.inserted":
            own.note(event)
        elif own.take(event):
            taken.append(event.data["text"])
    return taken


PRESS = Event("pointer.down", 5 * MS, "x_server", MS, {"x": 1, "y": 1})
CASES: list[tuple[str, list[Event], list[str]]] = [
    ("composed", [key("n"), key("i"), key(" "), told("你")], ["你"]),
    ("chosen with enter", [key("n"), key("i"), key(""), told("に")], ["に"]),
    ("what keys write", [key("a"), told("a"), key("b", 20), told("b", 30)], ["a", "b"]),
    ("pasted by keys", [key("a"), key("v", 1, "ctrl"), told("geheim ü")], []),
    ("pasted by the pointer", [key("a"), PRESS, told("geheim ü")], []),
    ("completed", [key("g"), told("g"), told("oogle.com")], ["g"]),
    ("printed after enter", [key("l"), key("s"), told("l"), told("s"), key("", 20), told("é.txt", 30)], ["l", "s"]),
    ("other letters", [key("n"), told("secret")], []),
    ("too late", [key("n"), told("你", LATEST_NS // MS + 1)], []),
    ("a page", [key("n"), told("你" * (MAX_CHARACTERS + 1))], []),
    ("lines", [key("n"), told("你\n好")], []),
    ("composed once", [key("n"), told("你"), told("好")], ["你"]),
    ("nothing pressed", [told("你")], []),
]


@pytest.mark.parametrize(("events", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_only_what_was_typed_is_taken(events: list[Event], expected: list[Any]) -> None:
    assert filtered(*events) == expected
