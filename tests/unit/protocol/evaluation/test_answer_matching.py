"""Answers that are the same text in another script, width or numeral; and answers that are not."""

import pytest

from protocol.evaluation.answer_matching import is_same_answer


@pytest.mark.parametrize(
    ("answer", "reference"),
    [
        ("Teal green.", "teal  green"),
        ("The Beatles", "Beatles"),
        ("１９０３年", "一九〇三年"),
        ("1903年", "一九〇三年"),
        ("二十三", "23"),
        ("三万五千", "35,000"),
        ("一百零八", "108"),
        ("2001年9月1日", "二〇〇一年九月一日"),
        ("2001年09月01号", "2001年9月1日"),
        ("「清華大學」", "清华大学"),
        ("《红楼梦》。", "红楼梦"),
        ("3.14", "３.１４"),
        ("café", "CAFE\u0301"),
        ("**Paris**", "Paris"),
    ],
)
def test_another_way_of_writing_is_the_same(answer: str, reference: str) -> None:
    assert is_same_answer(answer, ("something else", reference))


@pytest.mark.parametrize(
    ("answer", "reference"),
    [
        ("", ""),
        ("", "Paris"),
        ("...", "…"),
        ("1903 or 1904", "1903"),
        ("-5", "5"),
        ("3.14", "314"),
        ("一九一三年", "一九〇三年"),
        ("not Paris", "Paris"),
        ("十万", "一万"),
    ],
)
def test_another_answer_is_not(answer: str, reference: str) -> None:
    assert not is_same_answer(answer, (reference,))
