"""Sentences of pages, and which are long."""

import pytest

from annotation_app.operations.documents.sentences import LONG_WORDS, long_sentences, long_share, sentences, word_count


def test_a_sentence_ends_at_a_full_stop_before_no_small_letter() -> None:
    text = 'One. Two? "Three!" (Four.) It is 0.5 s, e.g. Five. `six` ends. vs. Seven\n\n## No sentence\n\n* Eight\n'
    assert sentences(text) == [
        "One.",
        "Two?",
        '"Three!"',
        "(Four.)",
        "It is 0.5 s, e.g. Five.",
        "Code ends. vs. Seven",
        "Eight",
    ]


@pytest.mark.parametrize(("sentence", "words"), [("", 0), ("Two words.", 2), ("a - b — 1.5 %", 3), ("one-word", 1)])
def test_words_hold_a_letter_or_a_digit(sentence: str, words: int) -> None:
    assert word_count(sentence) == words


def test_a_sentence_is_long_beyond_the_bound() -> None:
    fits, long = " ".join(["Word"] * LONG_WORDS) + ".", " ".join(["Word"] * (LONG_WORDS + 1)) + "."
    assert long_sentences(f"{fits} {long}\n\n    {long}\n\n| {long} |\n") == [long]


def test_the_share_is_over_all_pages() -> None:
    long = " ".join(["Word"] * (LONG_WORDS + 1)) + "."
    assert long_share([f"{long} Short.", "Short. Short."]) == 0.25
    assert long_share([]) == 0.0
