"""Which texts say the same: paraphrases do; another literal, negation, object or act makes another task."""

import random
from itertools import chain

import pytest

from annotation_app.design.near_duplicates import find_near_duplicates
from benchmarks.parts.factory.duplicates import RARE_WORDS, measure_duplicates, write_pairs
from protocol.wordings.comparison import read_wording, similarity
from protocol.wordings.lists import CHINESE_VERBS, ENGLISH_VERBS


def say_the_same(one: str, other: str) -> bool:
    """Whether one is found as a near duplicate of the other, either way round."""
    found = bool(find_near_duplicates([one], [other]))
    assert found == bool(find_near_duplicates([other], [one]))
    return found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Turn on dark mode in the settings.", "Could you please enable dark mode in the settings?"),
        ('Send Ann a mail with the subject "Lunch".', 'A mail with the subject "Lunch" should be sent to Ann, thanks!'),
        ("Buy three lamps.", "Please purchase 3 lamps."),
        ("Delete all mails from Bo and empty the bin.", "Remove all of Bo's mails, then empty the bin."),
        ("Open the report and count its tables.", "Count the report's tables."),
        ("请打开蓝牙。", "麻烦你开启一下蓝牙"),
        ("把“计划”删除", "请帮我删掉“计划”。"),
    ],
)
def test_other_words_for_the_same(one: str, other: str) -> None:
    assert say_the_same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Buy 3 lamps.", "Buy 4 lamps."),
        ("Buy 1,000 lamps.", "Buy 100 lamps."),
        ('Name it "Lunch".', 'Name it "Dinner".'),
        ("Send the file a.txt to Ann.", "Send the file b.txt to Ann."),
        ("Send the report to Ann.", "Send the report to Bo."),
        ("Marta needs the report.", "Dimitri needs the report."),
        ("Book a room on 4 May.", "Book a room on 4 June."),
        ("Book a room on Monday.", "Book a room on Friday."),
        ("Share the folder with Ann.", "Do not share the folder with Ann."),
        ("Archive the mail, do not delete it.", "Delete the mail, do not archive it."),
        ("Export the photos and recordings.", "Export the photos and invoices."),
        ("In the calendar, add a lunch.", "In the planner, add a lunch."),
        ("Switch on the wifi.", "Switch off the wifi."),
        ("Scroll up.", "Scroll down."),
        ("Run it before lunch.", "Run it after lunch."),
        ("Copy the folder.", "Delete the folder."),
        ("Print the letter and send it.", "Send the letter."),
        ("删除第一行", "删除第二行"),
        ("打开蓝牙", "关闭蓝牙"),
        ("把照片发给王芳", "不要把照片发给王芳"),
    ],
)
def test_another_task_in_like_words(one: str, other: str) -> None:
    assert not say_the_same(one, other)


def test_the_bounds_hold_on_seeded_pairs() -> None:
    figures = measure_duplicates(write_pairs(random.Random(1), 150))
    assert float(str(figures["duplicates_recall"])) >= 0.9, "of fewer pairs than the benchmark's, by another seed"
    assert float(str(figures["duplicates_precision"])) >= 0.95


def test_the_pairs_use_no_synonyms_that_the_detector_knows() -> None:
    lines = [set(line) for line in (*ENGLISH_VERBS, *CHINESE_VERBS)]
    for word, rare in RARE_WORDS:
        words = {word.split()[0].lower(), rare.split()[0].lower()}
        assert not any(words <= line for line in lines), words


def test_an_act_is_in_one_line_alone() -> None:
    verbs = list(chain.from_iterable((*ENGLISH_VERBS, *CHINESE_VERBS)))
    assert len(set(verbs)) == len(verbs)


@pytest.mark.parametrize("text", ["", "…", "\x00", "“”", "and and and", "不" * 3_000, "a" * 2_000])
def test_any_text_can_be_compared(text: str) -> None:
    assert 0 <= similarity(read_wording(text), read_wording("Open it.")) <= 1
    assert find_near_duplicates([text], [text, ""]) is not None
