"""What is read of a model's reply, and how what cannot be read is named."""

import json

import pytest

from task_factory.sites.replies import ReplyFault, read_functions, read_proposals, read_refinements

GOOD = {
    "id": "trips",
    "proposed_task": "Show the trips from Kelso.",
    "script": [{"kind": "click", "element": {"role": "button", "name": "Show"}}],
    "difficulty": "easy",
}


@pytest.mark.parametrize(
    "reply",
    [
        json.dumps({"tasks": [GOOD]}),
        f"Here they are:\n```json\n{json.dumps({'tasks': [GOOD]}, indent=2)}\n```\nI hope this helps.",
        f'<think>A set {{of}} tasks … {{"tasks": []}}</think>{json.dumps({"tasks": [GOOD]})}',
    ],
    ids=["plain", "fenced", "thought"],
)
def test_json_is_found_within_other_text(reply: str) -> None:
    (proposal,), faults = read_proposals(reply)
    assert (proposal.id, proposal.check, faults) == ("trips", (), [])


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("", "no_json"),
        ("I cannot see the page.", "no_json"),
        (json.dumps({"tasks": [GOOD]})[:-20], "bad_json"),
        ('{"answer": 1}', "bad_json"),
        ('{"tasks": "none"}', "bad_shape"),
        ('{"tasks": [], "more": NaN}', "bad_json"),
    ],
)
def test_what_is_no_reply_is_named(reply: str, code: str) -> None:
    with pytest.raises(ReplyFault) as fault:
        read_proposals(reply)
    assert fault.value.code == code


@pytest.mark.parametrize(
    "item",
    [
        {**GOOD, "script": []},
        {**GOOD, "script": [{"kind": "run", "code": "alert(1)"}]},
        {**GOOD, "check": [{"kind": "script", "code": "true"}]},
        {**GOOD, "id": "../x"},
        "Show the trips.",
    ],
)
def test_an_item_that_is_none_costs_only_itself(item: object) -> None:
    kept, faults = read_proposals(json.dumps({"tasks": [item, GOOD]}))
    assert [one.id for one in kept] == ["trips"]
    assert [fault.code for fault in faults] == ["bad_shape"]


def test_functions_and_refinements_are_read_alike() -> None:
    (function,), _ = read_functions('{"functions": [{"name": "Search", "elements": ["e1"], "rank": 1}]}')
    assert function.elements == ("e1",)
    (dropped,), _ = read_refinements('{"tasks": [{"id": "trips", "drop": true, "reason": "vague"}]}')
    assert dropped.drop
