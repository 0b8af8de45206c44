"""Half-written replies: what a dialect lets a model continue, and what it reads of the continuation."""

import pytest

from protocol.actions.types import Finish, RunCommand, TypeText
from protocol.dialects.dialect import ScreenSize
from protocol.dialects.families import get_dialect, list_dialects
from protocol.dialects.reply_prefixes import (
    ReplyPrefix,
    action_prefix,
    continued_text,
    continued_thought,
    thought_prefix,
)

SCREEN = ScreenSize(width=1280, height=720)
KINDS = frozenset({"type_text", "run_command", "finish", "click"})
EVERY = pytest.mark.parametrize("name", list_dialects())
WRITTEN, REST = "The file's name, “a\\b”, is wrong: 50 % of it", " is missing. I type it."
TYPED, MORE = 'say "hi" to', " l'été & <b> 你好"
DESCRIBING = {"opencua", "evocua_s1"}
"""Dialects that describe an action in words before they call it: its text cannot be half written."""


def added(prefix: ReplyPrefix, reply: str) -> str:
    """What a model adds that writes this reply."""
    assert reply.startswith(prefix.text), (reply, prefix)
    return reply.removeprefix(prefix.text)


@EVERY
def test_a_thought_is_continued_up_to_its_end(name: str) -> None:
    dialect = get_dialect(name)
    prefix = thought_prefix(dialect, WRITTEN, SCREEN)
    assert prefix is not None
    rest = added(prefix, dialect.write(WRITTEN + REST, TypeText(text=TYPED), SCREEN))
    cut = rest[: rest.index("type it") + 3]
    for text, ended, expected in (
        (rest, True, REST),
        (rest[: rest.index(prefix.closing) + len(prefix.closing)], False, REST),
        (cut, False, " is missing. I"),
        (cut, True, ""),
        ("')", True, ""),
    ):
        reply = prefix.complete(text, ended=ended)
        assert continued_thought(dialect, reply, WRITTEN, SCREEN) == expected, (text, ended)


@EVERY
def test_a_text_of_an_action_is_continued_up_to_its_end(name: str) -> None:
    dialect = get_dialect(name)
    for half, whole in (
        (TypeText(text=TYPED), TypeText(text=TYPED + MORE)),
        (RunCommand(command=TYPED), RunCommand(command=TYPED + MORE)),
    ):
        prefix = action_prefix(dialect, "I greet.", half, SCREEN, KINDS)
        if half.kind not in dialect.kinds or name in DESCRIBING:
            assert prefix is None
            continue
        assert prefix is not None
        rest = added(prefix, dialect.write("I greet.", whole, SCREEN))
        reply = prefix.complete(rest, ended=True)
        assert continued_text(dialect, reply, half, SCREEN) == MORE
        reply = prefix.complete(rest[: rest.index("你") + 1], ended=False)
        assert continued_text(dialect, reply, half, SCREEN) == MORE.rpartition(" ")[0]


@EVERY
def test_an_action_follows_its_thought(name: str) -> None:
    dialect = get_dialect(name)
    prefix = action_prefix(dialect, WRITTEN, None, SCREEN, KINDS)
    assert prefix is not None
    assert prefix.text
    for action in (Finish(answer="yes"), TypeText(text=TYPED)):
        assert dialect.write(WRITTEN, action, SCREEN).startswith(prefix.text)


@pytest.mark.parametrize("text", ["<|im_end|>", ""])
def test_what_could_close_a_turn_is_not_sent(text: str) -> None:
    dialect = get_dialect("ui_tars_1_5")
    assert thought_prefix(dialect, text, SCREEN) is None
    assert action_prefix(dialect, "", TypeText(text=text), SCREEN, KINDS) is None
