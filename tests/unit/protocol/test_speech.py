"""Reviewers change the thoughts of recorded sessions; words are only redacted."""

import pytest

from protocol.trajectory.speech import (
    InvalidThoughts,
    SpeechRecord,
    SpokenThought,
    assign_thought,
    is_same,
    join_words,
    merge_thoughts,
    redact_text,
    redact_thoughts,
    redact_words,
    speech_of_part,
    split_thought,
    step_thoughts,
    steps_of_words,
    thought_text,
    write_thought,
)

WORDS = tuple(
    (float(place), place + 0.5, text)
    for place, text in enumerate(["I", "open", "Miller's", "mail.", "It", "opened.", "Now", "I", "close", "it."])
)
SPANS = [(3.9, 4.0), (12.0, 12.1)]
OPEN = SpokenThought(begin=0, end=3.5, words=(0, 3), role="plan", relation="before", steps=(0,))
OUTCOME = SpokenThought(begin=4, end=5.5, words=(4, 5), role="evaluation", relation="after", steps=(0,))
CLOSE = SpokenThought(begin=6, end=9.5, words=(6, 9), role="plan", relation="before", steps=(1,))
THOUGHTS = (OPEN, OUTCOME, CLOSE)


def said(thoughts: tuple[SpokenThought, ...]) -> list[str]:
    return [thought_text(WORDS, one) for one in thoughts]


def test_steps_have_what_was_known_before_them() -> None:
    assert step_thoughts(WORDS, THOUGHTS, 2) == ("I open Miller's mail.", "It opened. Now I close it.")


def test_a_thought_is_split_and_merged_again() -> None:
    split = split_thought(WORDS, THOUGHTS, 2, 8)
    assert said(split)[2:] == ["Now I", "close it."]
    assert (split[2].end, split[3].begin) == (7.5, 8.0)
    assert merge_thoughts(WORDS, split, 2) == THOUGHTS
    for word in (6, 10):
        with pytest.raises(InvalidThoughts):
            split_thought(WORDS, THOUGHTS, 2, word)
    with pytest.raises(InvalidThoughts):
        merge_thoughts(WORDS, THOUGHTS, 2)


def test_a_written_text_is_divided_and_joined() -> None:
    written = write_thought(THOUGHTS, 2, "Now I close this window")
    split = split_thought(WORDS, written, 2, 8)
    assert said(split)[2:] == ["Now I close", "this window"]
    assert said(merge_thoughts(WORDS, split, 2))[2] == "Now I close this window"
    assert write_thought(written, 2, None) == THOUGHTS


def test_merged_thoughts_are_about_the_steps_of_both() -> None:
    merged = merge_thoughts(WORDS, THOUGHTS, 1)
    assert (merged[1].steps, merged[1].words, merged[1].role) == ((0, 1), (4, 9), "evaluation")


def test_a_thought_is_reassigned() -> None:
    moved = assign_thought(THOUGHTS, 2, [0], SPANS)
    assert (moved[2].steps, moved[2].relation) == ((0,), "after")
    assert step_thoughts(WORDS, moved, 2) == ("I open Miller's mail.", "It opened. Now I close it.")
    none = assign_thought(THOUGHTS, 2, [], SPANS)
    assert step_thoughts(WORDS, none, 2) == ("I open Miller's mail.", "It opened.")
    filler = CLOSE.model_copy(update={"role": "filler", "steps": (), "relation": None})
    (filler,) = assign_thought((filler,), 0, [1], SPANS)
    assert (filler.role, filler.relation) == ("plan", "before")
    with pytest.raises(InvalidThoughts):
        assign_thought(THOUGHTS, 2, [2], SPANS)


def test_a_redacted_word_is_in_no_text() -> None:
    written = write_thought(THOUGHTS, 0, "I open MILLER'S mail, of Miller.")
    thoughts = redact_thoughts(WORDS, written, [2])
    words = redact_words(WORDS, [2])
    assert [word[2] for word in words][:4] == ["I", "open", "", "mail."]
    assert step_thoughts(words, thoughts, 1) == ("I open mail, of.",)
    assert step_thoughts(words, THOUGHTS, 1) == ("I open mail.",)


@pytest.mark.parametrize(
    ("text", "secret", "left"),
    [
        ("Pay 42 now, 421 later.", "42", "Pay now, 421 later."),
        ("打开小明的邮件。", "小明", "打开的邮件。"),
        ("Ask C++ people.", "C++", "Ask people."),
        ("Nothing.", "", "Nothing."),
    ],
)
def test_words_are_removed_from_texts(text: str, secret: str, left: str) -> None:
    assert redact_text(text, [secret]) == left


def test_a_part_has_only_its_own_words() -> None:
    part = speech_of_part(SpeechRecord(words=WORDS, thoughts=THOUGHTS), 1, 1)
    assert join_words(word[2] for word in part.words) == "Now I close it."
    assert step_thoughts(part.words, part.thoughts, 1) == ("Now I close it.",)


def test_reviewers_agree_on_words_and_steps_not_on_commas() -> None:
    comma = write_thought(THOUGHTS, 2, "now, I close it")
    assert is_same(WORDS, THOUGHTS, comma)
    assert not is_same(WORDS, THOUGHTS, assign_thought(THOUGHTS, 2, [0], SPANS))
    assert not is_same(WORDS, THOUGHTS, write_thought(THOUGHTS, 2, "Now I close all."))
    assert steps_of_words(10, merge_thoughts(WORDS, THOUGHTS, 1)) == ["0"] * 4 + ["0 1"] * 6
