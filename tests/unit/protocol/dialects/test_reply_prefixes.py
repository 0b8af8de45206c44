"""Half-written replies: what a dialect lets a model continue, and what it reads of the continuation."""

import pytest

from protocol.actions.types import TypeText
from protocol.dialects.dialect import ScreenSize
from protocol.dialects.families import get_dialect, list_dialects
from protocol.dialects.reply_prefixes import ReplyPrefix, continued_thought, thought_prefix

SCREEN = ScreenSize(width=1280, height=720)
EVERY = pytest.mark.parametrize("name", list_dialects())
WRITTEN, REST = "The file's name, “a\\b”, is wrong: 50 % of it", " is missing. I type it."
TYPED = 'say "hi" to'


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
@pytest.mark.parametrize(
    ("cut", "added"),
    [
        ("，打开文件", "，打开文件"),
        (" then 打开文", " then 打开文"),
        ("打开\ufffd", "打开"),
        (" then the o\ufffd", " then the o"),
    ],
)
def test_a_cut_text_keeps_words_without_spaces_and_no_half_characters(name: str, cut: str, added: str) -> None:
    dialect = get_dialect(name)
    prefix = thought_prefix(dialect, WRITTEN, SCREEN)
    assert prefix is not None
    assert continued_thought(dialect, prefix.complete(cut, ended=False), WRITTEN, SCREEN) == added


@pytest.mark.parametrize("text", ["<|im_end|>", ""])
def test_what_could_close_a_turn_is_not_sent(text: str) -> None:
    dialect = get_dialect("ui_tars_1_5")
    assert thought_prefix(dialect, text, SCREEN) is None
