"""Key names: every spelling of a model or a browser means one canonical key."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from protocol.actions.keys import KEY_ALIASES, KEYS, find_key, format_hotkey, parse_hotkey, require_key
from protocol.actions.types import Press, PressKeys
from tests.unit.protocol.strategies import keys


@pytest.mark.parametrize(
    ("spelling", "key"),
    [
        ("CTRL", "ctrl"),
        ("Control", "ctrl"),
        ("cmd", "super"),
        ("Meta", "super"),
        ("win", "super"),
        ("Return", "enter"),
        ("ArrowLeft", "left"),
        ("arrow_left", "left"),
        ("Page Down", "pagedown"),
        ("PAGE_UP", "pageup"),
        ("Escape", "esc"),
        (" ", "space"),
        ("Delete", "delete"),
        ("A", "a"),
        ("KeyQ", "q"),
        ("F12", "f12"),
        ("+", "+"),
        ("-", "-"),
        ("plus", "+"),
        ("f13", None),
        ("", None),
        ("é", None),
        ("hyper", None),
    ],
)
def test_spellings(spelling: str, key: str | None) -> None:
    assert find_key(spelling) == key


@pytest.mark.parametrize(
    ("hotkey", "expected"),
    [
        ("ctrl c", ("ctrl", "c")),
        ("Ctrl+C", ("ctrl", "c")),
        ("ctrl + c", ("ctrl", "c")),
        ("ctrl-shift-t", ("ctrl", "shift", "t")),
        ("ctrl arrowleft", ("ctrl", "left")),
        ("ctrl arrow left", ("ctrl", "left")),
        ("ctrl left", ("ctrl", "left")),
        ("Ctrl+Page Down", ("ctrl", "pagedown")),
        ("cmd space", ("super", "space")),
        ("alt F4", ("alt", "f4")),
        ("ctrl++", ("ctrl", "+")),
        ("ctrl +", ("ctrl", "+")),
        ("ctrl--", ("ctrl", "-")),
        (" ", ("space",)),
        ("", ()),
    ],
)
def test_hotkeys(hotkey: str, expected: tuple[str, ...]) -> None:
    assert parse_hotkey(hotkey) == expected


@given(st.lists(keys, max_size=5).map(tuple))
@example(("ctrl", "+", "c"))
def test_a_written_hotkey_is_read_back(hotkey: tuple[str, ...]) -> None:
    assert parse_hotkey(format_hotkey(hotkey)) == hotkey


def test_an_unknown_key_is_named() -> None:
    with pytest.raises(ValueError, match="'hyper'"):
        parse_hotkey("ctrl hyper")


@given(st.text())
def test_any_text_is_keys_or_a_value_error(text: str) -> None:
    try:
        found = parse_hotkey(text)
    except ValueError:
        return
    assert set(found) <= KEYS


def test_a_hotkey_of_any_length_is_read() -> None:
    assert parse_hotkey("a+" * 10_000 + "b") == ("a",) * 10_000 + ("b",)


def test_every_alias_means_a_key_and_none_hides_one() -> None:
    assert set(KEY_ALIASES.values()) <= KEYS
    assert not KEY_ALIASES.keys() & KEYS
    assert all(find_key(alias) == key for alias, key in KEY_ALIASES.items())


def test_actions_keep_the_canonical_name() -> None:
    assert PressKeys(keys=("Control", "ARROWLEFT")).keys == ("ctrl", "left")
    assert Press(key="Return").key == "enter"
    assert require_key("Return") == "enter"


def test_actions_refuse_a_key_nobody_knows() -> None:
    with pytest.raises(ValidationError, match="unknown key"):
        Press(key="hyper")
