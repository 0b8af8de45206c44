"""Where refined sentences come from, and which facts they change."""

import pytest

from agent_backend.refinement.provenance import find_changed_fact, find_facts, split_sentences, trace_sentences


def test_every_sentence_has_a_source_or_is_added() -> None:
    said = "okay so um I open the settings. Then I pick version 2.5 for Alice."
    refined = "I open the settings. I choose version 2.5 for Alice. This prepares everything properly. " + said[32:]
    traced = trace_sentences(said, refined)
    assert [(one.support, one.sources) for one in traced] == [
        ("paraphrased", (0,)),
        ("paraphrased", (1,)),
        ("added", ()),
        ("verbatim", (1,)),
    ]


def test_sentences_end_at_their_points_and_not_within_numbers() -> None:
    assert split_sentences("I type 2.5 here. Done! 然后点击。好了") == [
        "I type 2.5 here.",
        "Done!",
        "然后点击。",
        "好了",
    ]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("forty two dollars", ["42"]),
        ("42 dollars and 13.60", ["42", "13.60"]),
        ("two hundred and five", ["205"]),
        ("three thousand one hundred", ["3100"]),
        ("five six", ["5", "6"]),
        ("twenty-one", ["21"]),
        ("the right one", []),
        ("1,500", ["1500"]),
    ],
)
def test_numbers_in_words_and_in_digits_are_one(text: str, numbers: list[str]) -> None:
    assert sorted(find_facts(text).numbers.elements()) == sorted(numbers)


@pytest.mark.parametrize(
    ("said", "refined", "problem"),
    [
        ("um I type forty two here", "I type 42 here.", ""),
        ("I type forty two here", "I type 43 here.", "left out: 42"),
        ("I type it here", "I type it here 3 times.", "never said: 3"),
        ("I ask Alice about it", "I ask about it.", "left out: alice"),
        ("I ask alice about it", "I ask bob about it.", "left out: alice"),
        ("I ask about it", "I ask Bob about it.", "never said: bob"),
        ("I open report_final.txt now", "I open the report now.", "left out: report_final.txt"),
        ("I do not press save", "I press save.", "a negation was changed"),
        ("I don't press save", "I do not press save.", ""),
        ("no wait, I press save", "I press save.", ""),
        ("I press save", "I press save. It is not wise otherwise.", "a negation was changed"),
        ("I press save", "I press save. Nine others follow elsewhere.", "never said: 9"),
        ("我不要保存", "我要保存", "a negation was changed"),
    ],
)
def test_a_changed_fact_is_found(said: str, refined: str, problem: str) -> None:
    names = frozenset({"alice"})
    assert find_changed_fact(said, trace_sentences(said, refined), names) == problem
