"""Key names: every spelling of a model or a browser means one canonical key."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.unit.vocabulary.strategies import keys
from vocabulary.actions import Press, PressKeys
from vocabulary.keys import ALIASES, KEYS, hotkey_text, key_checked, key_named, keys_named


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
    assert key_named(spelling) == key


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
    assert keys_named(hotkey) == expected


@given(st.lists(keys, max_size=5).map(tuple))
@example(("ctrl", "+", "c"))
def test_a_written_hotkey_is_read_back(hotkey: tuple[str, ...]) -> None:
    assert keys_named(hotkey_text(hotkey)) == hotkey


def test_an_unknown_key_is_named() -> None:
    with pytest.raises(ValueError, match="'hyper'"):
        keys_named("ctrl hyper")


@given(st.text())
def test_any_text_is_keys_or_a_value_error(text: str) -> None:
    try:
        found = keys_named(text)
    except ValueError:
        return
    assert set(found) <= KEYS


def test_a_hotkey_of_any_length_is_read() -> None:
    assert keys_named("a+" * 10_000 + "b") == ("a",) * 10_000 + ("b",)


def test_every_alias_means_a_key_and_none_hides_one() -> None:
    assert set(ALIASES.values()) <= KEYS
    assert not ALIASES.keys() & KEYS
    assert all(key_named(alias) == key for alias, key in ALIASES.items())


def test_actions_keep_the_canonical_name() -> None:
    assert PressKeys(keys=("Control", "ARROWLEFT")).keys == ("ctrl", "left")
    assert Press(key="Return").key == "enter"
    assert key_checked("Return") == "enter"


def test_actions_refuse_a_key_nobody_knows() -> None:
    with pytest.raises(ValidationError, match="unknown key"):
        Press(key="hyper")
