"""What proposed tasks must hold up to before they are played."""

from typing import Any

import pytest

from task_factory.sites.filters import (
    check_clear,
    check_grounded,
    check_objective,
    check_safe,
    check_verifiable,
    find_duplicates,
    ground_functions,
    keeps_facts,
    merge_prerequisites,
)
from task_factory.sites.records import Proposal, SiteFunction
from tests.unit.task_factory.sites.pages import make_element, make_page

SHOW = {"kind": "click", "element": {"role": "button", "name": "Show"}}
WRITE = {"kind": "type", "element": {"role": "textbox", "name": "Town"}, "text": "Kelso"}
OPEN = {"kind": "click", "element": {"role": "link", "name": "About"}}
ANSWER = {"kind": "answer", "text": "1720"}
SHOWN = {"kind": "text", "contains": "Trips from Kelso"}
ASKED = {"kind": "answer", "accepted": ["1720"]}
PAGE = make_page(make_element("textbox", "Town"), make_element("button", "Show"), make_element("region", "Trips"))


def propose(task: str = "Show the trips from the town Kelso.", **fields: Any) -> Proposal:
    given = {"id": "trips", "proposed_task": task, "criteria": ["They are shown."], "script": [WRITE, SHOW]}
    return Proposal.model_validate({**given, "check": [SHOWN], **fields})


def test_a_task_that_says_all_passes_every_filter() -> None:
    one = propose()
    objections = [check_safe(one), check_grounded(one, PAGE), check_verifiable(one), check_clear(one)]
    assert {*objections, check_objective(one)} == {("", "")}


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"task": "Show the trips from the town of your choice."}, "text_not_said"),
        ({"check": [{"kind": "state", "path": ["town"], "equals": "Ilford"}]}, "value_not_said"),
        ({"check": [{"kind": "state", "path": [{"where": {"to": "Ilford"}}, "n"], "equals": 2}]}, "value_not_said"),
        ({"task": "Was it Kelso in 1720?", "script": [WRITE, ANSWER], "check": [ASKED]}, "answer_leaks"),
        ({"task": "Kelso"}, "length"),
        ({"script": [WRITE]}, "too_short"),
    ],
)  # fmt: skip
def test_what_must_be_guessed_is_unclear(fields: dict[str, Any], code: str) -> None:
    assert check_clear(propose(**fields))[0] == code


@pytest.mark.parametrize("text", ["Show some trips from Kelso.", "Show a nice trip from Kelso.", "看看 Kelso 的行程。"])
def test_what_is_left_to_taste_is_not_objective(text: str) -> None:
    assert check_objective(propose(text))[0] == "vague"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"check": [], "criteria": []}, "nothing_to_judge"),
        ({"script": [WRITE, ANSWER]}, "answer_unchecked"),
        ({"check": [ASKED]}, "answer_unchecked"),
        ({"check": [{"kind": "state", "path": ["town"]}]}, "empty_condition"),
        ({"check": [{"kind": "url", "part": "path"}]}, "empty_condition"),
    ],
)
def test_what_nothing_can_judge_is_dropped(fields: dict[str, Any], code: str) -> None:
    assert check_verifiable(propose(**fields))[0] == code
    assert check_verifiable(propose(check=[])) == ("", ""), "criteria alone are for a judge"


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ([OPEN, SHOW], "not_on_page"),
        ([ANSWER, SHOW], "answer_not_last"),
        ([{"kind": "press", "keys": ["enter"]}], "no_element"),
    ],
)
def test_a_script_begins_on_the_first_page(script: list[Any], code: str) -> None:
    assert check_grounded(propose(script=script), PAGE)[0] == code


def test_harmless_words_do_not_hide_what_is_pressed() -> None:
    pressed = {"kind": "click", "element": {"role": "button", "name": "Delete"}}
    assert check_safe(propose("Tidy up the town Kelso.", script=[WRITE, pressed]))[0] == "destructive_delete"
    assert check_safe(propose(steps=["Pay the trip."]))[0] == "destructive_pay"


def test_functions_name_what_is_on_the_page() -> None:
    functions = [
        SiteFunction(name="Trips", elements=("e1", "e2")),
        SiteFunction(name="Wishes", elements=("e9",)),
        SiteFunction(name="Look", elements=("e3",)),
        SiteFunction(name="Delete trips", elements=("e2",)),
    ]
    kept, refused = ground_functions(PAGE, functions)
    assert [one.name for one in kept] == ["Trips"]
    assert refused == [("ungrounded", "Wishes"), ("nothing_to_use", "Look"), ("destructive", "Delete trips")]


def test_a_task_that_is_the_beginning_of_another_becomes_its_precondition() -> None:
    short, long = propose(id="write", script=[WRITE], task="Write Kelso into the field."), propose()
    (kept,), (refusal,) = merge_prerequisites([short, long])
    assert (kept.id, kept.preconditions) == ("trips", ("Write Kelso into the field.",))
    assert (refusal.id, refusal.code) == ("write", "prerequisite")


def test_a_task_that_begins_where_another_ends_is_chained_to_it() -> None:
    first, second = propose(), propose("Open the page About.", id="about", script=[OPEN], after="trips")
    kept, refusals = merge_prerequisites([second, first])
    (chained,) = kept
    assert [step.kind for step in chained.script] == ["type", "click", "click"]
    assert chained.proposed_task == "Show the trips from the town Kelso. Then: Open the page About."
    assert chained.preconditions == ("Show the trips from the town Kelso.",)
    assert [one.code for one in refusals] == ["prerequisite"]


@pytest.mark.parametrize("after", ["unknown", "trips"])
def test_a_task_that_waits_for_none_or_itself_is_dropped(after: str) -> None:
    kept, (refusal,) = merge_prerequisites([propose(after=after)])
    assert (kept, refusal.code) == ([], "unknown_prerequisite")


def test_near_duplicates_are_dropped_and_other_values_are_not() -> None:
    again = propose("Show the trips from the town of Kelso.", id="again")
    other = propose("Show the trips from the town Ilford.", id="other", script=[{**WRITE, "text": "Ilford"}, SHOW])
    words = propose("Please display the trips from the town Kelso.", id="words", script=[{**WRITE, "text": "kelso"}])
    kept, refusals = find_duplicates([propose(), again, other, words])
    assert [one.id for one in kept] == ["trips", "other"]
    assert [(one.id, one.code) for one in refusals] == [("again", "duplicate"), ("words", "duplicate")]


@pytest.mark.parametrize(
    ("wording", "kept"),
    [("List all trips that leave from Kelso on May 5.", True), ("List the trips from Kelso.", False), ("May 5", False)],
)
def test_another_wording_must_keep_names_and_numbers(wording: str, kept: bool) -> None:
    assert keeps_facts(propose("Show the trips from the town Kelso on May 5."), wording) is kept
