"""Tasks that must not be made are known by their words and by what they press, and others are not taken for them."""

import json
from pathlib import Path

import pytest

import benchmarks.parts.factory
from task_factory.sites.safety import destructive_reason, element_reason, instruction_reason
from tests.unit.task_factory.sites.pages import make_element

WORDINGS = json.loads((Path(benchmarks.parts.factory.__file__).parent / "wordings.json").read_text())


def test_what_cannot_be_taken_back_is_refused_in_both_languages() -> None:
    assert [text for text in WORDINGS["destructive"] if not instruction_reason(text)] == []


def test_harmless_words_on_a_destructive_button_are_refused() -> None:
    assert [text for text, pressed in WORDINGS["disguised"] if not destructive_reason(pressed)] == []
    assert any(not instruction_reason(text) for text, _ in WORDINGS["disguised"]), "words alone would not do"


def test_similar_words_that_do_no_harm_are_let_pass() -> None:
    assert {text: reason for text in WORDINGS["harmless"] if (reason := instruction_reason(text))} == {}


@pytest.mark.parametrize(
    ("element", "reason"),
    [
        (make_element("button", "Continue", dialog="Delete all trips?", in_dialog=True), "delete"),
        (make_element("button", "Go on", form="Payment", submits=True), "pay"),
        (make_element("button", "Go on", form="Payment"), ""),
        (make_element("button", "Cancel"), "cancel"),
        (make_element("button", "Cancel", dialog="Delete all trips?", in_dialog=True), ""),
        (make_element("button", "删除"), "delete"),
        (make_element("draggable", "Buy stamps"), ""),
        (make_element("textbox", "Card number"), "pay"),
        (make_element("button", "Show trips"), ""),
    ],
)
def test_an_element_is_judged_with_the_dialog_and_form_around_it(element: object, reason: str) -> None:
    assert element_reason(element) == reason  # type: ignore[arg-type]
