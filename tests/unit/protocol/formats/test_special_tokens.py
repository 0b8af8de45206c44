"""Special words in text: what is learned keeps its meaning or is left out, what is read is broken up."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.actions.types import Action, Click, Drag, Finish, Point, RunCommand, TypeText
from protocol.dialects.dialect import ParsedReply, ScreenSize
from protocol.dialects.families import get_dialect, list_dialects
from protocol.formats.records import RowSkipped
from protocol.formats.special_tokens import (
    CONSUMERS,
    LLAMA_FACTORY,
    SPECIAL_TOKENS,
    TRL,
    VERL,
    Consumer,
    dialect_tokens,
    escape_earlier_turn,
    escape_prompt_text,
    escape_target_text,
    is_preserved,
)

SCREEN = ScreenSize(width=1920, height=1080)
WORDS = sorted({*LLAMA_FACTORY.placeholders, *LLAMA_FACTORY.prompt_placeholders}.union(*SPECIAL_TOKENS.values()))
QUOTING = [name for name in list_dialects() if name != "ui_tars_2"]
"""Dialects that quote arguments; UI-TARS 2 writes them between tags, as they are."""

pieces = st.sampled_from([*WORDS, "<", "|>", "\\", "\\\\", "'", '"', "\n", "e\u0301", "\u1100\u1161", "a", "\\u003c"])
hostile = st.lists(pieces, min_size=1, max_size=6).map("".join)


def learned(name: str, thought: str, action: Action, consumer: Consumer = LLAMA_FACTORY) -> str:
    """What a consumer learns of a step."""
    dialect = get_dialect(name)
    text = dialect.write(thought, action, SCREEN)
    return escape_target_text(text, consumer, dialect, SCREEN, written=(thought, action))


@pytest.mark.parametrize("name", QUOTING)
@pytest.mark.parametrize("word", ["<image>", "<video>", "<audio>", "<|im_end|>", "<|image_pad|>", "</tool_call>"])
def test_typed_text_is_learned_as_it_was_typed(name: str, word: str) -> None:
    action = TypeText(text=f"x {word} y")
    if word in dialect_tokens(get_dialect(name)):
        with pytest.raises(RowSkipped, match="is no text"):
            learned(name, "a", action)
        return
    text = learned(name, "a", action)
    read = get_dialect(name).parse(text, SCREEN)
    assert isinstance(read, ParsedReply)
    assert read.action == action
    assert word not in text


@pytest.mark.parametrize("consumer", CONSUMERS, ids=lambda one: one.name)
@pytest.mark.parametrize("name", list_dialects())
@given(thought=hostile, typed=hostile)
def test_a_row_is_learned_exactly_or_left_out(consumer: Consumer, name: str, thought: str, typed: str) -> None:
    dialect, action = get_dialect(name), TypeText(text=typed)
    text = dialect.write(thought, action, SCREEN)
    try:
        row = escape_target_text(text, consumer, dialect, SCREEN, written=(thought, action))
    except RowSkipped:
        return
    assert is_preserved(row, consumer, dialect)
    assert unicodedata.normalize("NFC", row) == row
    before, after = dialect.parse(text, SCREEN), dialect.parse(row, SCREEN)
    assert before.thought == after.thought
    assert getattr(before, "action", None) == getattr(after, "action", None)


@pytest.mark.parametrize("name", list_dialects())
def test_what_holds_no_special_word_stays_as_it_is(name: str) -> None:
    for action in (Click(x=5, y=6), Drag(start=Point(x=1, y=2), end=Point(x=3, y=4)), Finish(answer="a < b |> c [x]")):
        assert learned(name, "I see <b> & {{x}}", action) == get_dialect(name).write(
            "I see <b> & {{x}}", action, SCREEN
        )


def test_the_dialects_own_tokens_stay() -> None:
    assert "<|box_start|>" in learned("ui_tars_1_0", "a", Click(x=5, y=6))
    with pytest.raises(RowSkipped, match="box_start"):
        learned("ui_tars_1_0", "I see <|box_start|>", Click(x=5, y=6))


@pytest.mark.parametrize(
    ("consumer", "thought", "code"),
    [
        (LLAMA_FACTORY, "I see <video>", "special_word"),
        (VERL, "I see <image>", "special_word"),
        (TRL, "I see <|im_end|>", "special_word"),
        (TRL, "I see <|a_token_of_next_year|>", "special_word"),
        (TRL, "cafe\u0301", "not_normalised"),
        (TRL, "I see <image>", None),
    ],
)
def test_a_thought_cannot_be_escaped(consumer: Consumer, thought: str, code: str | None) -> None:
    if code is None:
        assert thought in learned("ui_tars_1_5", thought, Click(x=5, y=6), consumer)
        return
    with pytest.raises(RowSkipped) as caught:
        learned("ui_tars_1_5", thought, Click(x=5, y=6), consumer)
    assert caught.value.code == code
    assert str(caught.value).startswith("thought: ")


def test_an_unquoted_argument_cannot_be_escaped() -> None:
    with pytest.raises(RowSkipped) as caught:
        learned("ui_tars_2", "a", RunCommand(command="echo '<image>'"))
    assert caught.value.code == "special_word"
    assert str(caught.value).startswith("action.command: '<image>'")


def test_a_models_own_words_end_once() -> None:
    dialect = get_dialect("ui_tars_1_5")
    text = "Thought: a\nAction: wait()"
    assert escape_target_text(f"{text}<|im_end|>\n", TRL, dialect, SCREEN) == text
    with pytest.raises(RowSkipped):
        escape_target_text(f"{text}<|im_end|>\nuser", TRL, dialect, SCREEN)


def test_what_is_read_is_broken_up() -> None:
    assert escape_prompt_text("a <image> b <|im_end|> {{idx}}", LLAMA_FACTORY) == "a < image > b < |im_end| > { {idx} }"
    assert escape_prompt_text("a <image> b <|im_end|> {{idx}}", TRL) == "a <image> b < |im_end| > {{idx}}"
    assert escape_prompt_text("<ima<image>ge>", VERL) == "<ima< image >ge>"


def test_a_prompt_keeps_the_dialects_own_words() -> None:
    dialect = get_dialect("ui_tars_2")
    assert escape_prompt_text("<think>a</think><image>", VERL, dialect) == "<think>a</think>< image >"


def test_an_earlier_turn_is_written_as_it_is_learned() -> None:
    dialect, action = get_dialect("ui_tars_1_5"), TypeText(text="<video>")
    text = dialect.write("a", action, SCREEN)
    assert escape_earlier_turn(text, LLAMA_FACTORY, dialect, SCREEN) == learned("ui_tars_1_5", "a", action)
    thought = dialect.write("I see <video>", action, SCREEN)
    assert escape_earlier_turn(thought, LLAMA_FACTORY, dialect, SCREEN).count("< video >") == 2
