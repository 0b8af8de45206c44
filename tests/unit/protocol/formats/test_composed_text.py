"""Text of input methods stands in place of the keys that they took."""

from typing import Any

import pytest
from pydantic import TypeAdapter

from protocol.formats.recorded_acts import RecordedEvent, find_acts

MS = 1_000_000
EVENTS: TypeAdapter[list[RecordedEvent]] = TypeAdapter(list[RecordedEvent])
Events = list[dict[str, Any]]
NAMED = {"⌫": "backspace", "↓": "down", "⏎": "enter"}


def keys(text: str, begin: int = 0) -> Events:
    """Keys 100 ms apart; signs name those without a text."""
    found: Events = []
    for place, char in enumerate(text):
        own = {"x": 1, "y": 1, "t_ns": (begin + 100 * place) * MS, "t_error_ns": MS}
        name, written = (NAMED[char], "") if char in NAMED else (char, char)
        found += [{"kind": kind, "key": name, "text": written, **own} for kind in ("key.down", "key.up")]
    return found


def told(text: str, at: int) -> Events:
    return [{"kind": "text.inserted", "t_ns": at * MS, "t_error_ns": 50 * MS, "text": text}]


def click(at: int) -> Events:
    own = {"x": 9, "y": 9, "button": 1, "t_ns": at * MS, "t_error_ns": MS}
    return [{"kind": "pointer.down", **own}, {"kind": "pointer.up", **own}]


def echoed(text: str, begin: int = 0) -> Events:
    """Keys whose text the program tells a moment later, as it does where no input method takes them."""
    return [*keys(text, begin), *(one for n, char in enumerate(text) for one in told(char, begin + 100 * n + 60))]


def kinds(events: Events) -> list[Any]:
    acts = find_acts(EVENTS.validate_python(sorted(events, key=lambda one: one["t_ns"])))
    return [getattr(act.action, "text", act.action.kind) for act in acts]


CASES: list[tuple[str, Events, list[str]]] = [
    ("pinyin", [*keys("nihao "), *told("你好", 560)], ["你好"]),
    ("a candidate by its number", [*keys("nihao2"), *told("拟好", 560)], ["拟好"]),
    ("a correction and a choice", [*keys("nihs⌫ao↓ "), *told("你好", 860)], ["你好"]),
    ("two phrases", [*keys("ni "), *told("你", 260), *keys("hao ", 900), *told("好", 1260)], ["你好"]),
    ("letters before", [*echoed("abc"), *keys("nihao ", 400), *told("你好", 960)], ["abc你好"]),
    (
        "the last letter is told when the next word has begun",
        [*keys("abni "), *told("a", 60), *told("b", 260), *told("你", 460)],
        ["ab你"],
    ),
    ("letters after", [*keys("ni "), *told("你", 260), *echoed("ok", 400)], ["你ok"]),
    (
        "a syllable is told with the first key of the next one",
        [*keys("gksrmf"), *told("한", 360), *told("글", 620)],
        ["한글"],
    ),
    ("enter behind it", [*keys("ni "), *told("你", 260), *keys("⏎", 500)], ["你\n"]),
    ("letters alone", echoed("hello"), ["hello"]),
    ("an umlaut on its own key", [*keys("ü"), *told("ü", 60)], ["ü"]),
    ("a program prints", [*echoed("ls"), *keys("⏎", 300), *told("é.txt", 330)], ["ls\n"]),
    ("what is printed after a click", [*keys("ls"), *click(400), *told("é", 460)], ["ls", "click"]),
    ("letters whose text no program tells", keys("hello"), ["hello"]),
]


@pytest.mark.parametrize(("events", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_was_written_is_the_text(events: Events, expected: list[str]) -> None:
    assert kinds(events) == expected


def test_the_act_lasts_from_the_first_key_to_the_text() -> None:
    [act] = find_acts(EVENTS.validate_python([*keys("ni "), *told("你", 260)]))
    assert (act.started_ns, act.ended_ns, act.error_ns) == (0, 260 * MS, 50 * MS)
