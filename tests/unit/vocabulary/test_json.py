"""Numbers and texts that JSON has no place for: refused on the way in, never written on the way out."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from tests.unit.vocabulary.examples import observation, proposal
from vocabulary.actions import CallTool, Click
from vocabulary.base import MOST_DEPTH, json_fault
from vocabulary.dialect import Screen, Unparsed
from vocabulary.dialects import dialect_named, dialect_names
from vocabulary.proposals import Proposal
from vocabulary.tasks import Task

NUMBERS = ("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" + "0" * 400 + ".0")


@pytest.mark.parametrize("number", NUMBERS)
def test_no_type_takes_a_number_that_is_not_finite(number: str) -> None:
    given = f'{{"id": "a", "instruction": "Do", "parameters": {{"a": [1, {{"b": {number}}}]}}}}'
    with pytest.raises(ValidationError, match=r"a\.1\.b"):
        Task.model_validate_json(given)
    with pytest.raises(ValidationError):
        Task.model_validate(json.loads(given))
    with pytest.raises(ValidationError):
        CallTool.model_validate_json(f'{{"kind": "call_tool", "name": "n", "arguments": {{"a": {number}}}}}')
    for field in ('"sampling": {"t": %s}', '"logprobs": [%s]', '"likelihood": %s', '"latency_ms": %s'):
        told = json.loads(proposal(1, Click(x=1, y=1)).model_dump_json()) | json.loads("{" + field % number + "}")
        with pytest.raises(ValidationError):
            Proposal.model_validate(told)


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"a": [0, {"b": float("nan")}]}, "a.1.b"),
        ({"a": float("inf")}, "a"),
        ({"a": {"b": "half \ud83d"}, "c": float("nan")}, "a.b"),
        ({"a": {"\ud83d": 1}}, "a"),
        ("\udce9", ""),
        ([1, (2, "\ud800")], "1.1"),
    ],
)
def test_the_fault_in_a_value_is_named_with_its_place(value: Any, path: str) -> None:
    fault = json_fault(value)
    assert fault is not None
    assert fault[0] == path
    fault[1].encode()


def test_what_json_can_hold_has_no_fault() -> None:
    assert json_fault({"a": [1, 1.5, None, True, "中 \x00 😀", {"b": 10**400}]}) is None


def test_what_is_taken_is_not_too_deep_to_be_read_again() -> None:
    def nested(depth: int) -> dict[str, Any]:
        value: Any = 1
        for _ in range(depth):
            value = {"a": value}
        return {"id": "a", "instruction": "Do", "parameters": value}

    task = Task.model_validate(nested(MOST_DEPTH))
    assert Task.model_validate_json(task.model_dump_json()) == task
    for depth in (MOST_DEPTH + 1, 500, 900):
        with pytest.raises(ValidationError, match=r"nested more than|recursion"):
            Task.model_validate(nested(depth))


def test_half_a_character_in_a_task_is_refused_also_where_json_is_decoded_already() -> None:
    with pytest.raises(ValidationError, match="half a character"):
        Task.model_validate({"id": "a", "instruction": "Do", "parameters": {"a": "\udce9"}})


def test_one_that_got_past_validation_is_written_as_null() -> None:
    task = Task(id="a", instruction="Do").model_copy(update={"parameters": {"a": float("nan")}})
    assert json.loads(task.model_dump_json(), parse_constant=pytest.fail)["parameters"] == {"a": None}
    look = observation().model_copy(update={"settle_ms": float("inf")})
    assert json.loads(look.model_dump_json(), parse_constant=pytest.fail)["settle_ms"] is None


@pytest.mark.parametrize("name", dialect_names())
@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_a_reply_with_such_a_number_is_read_without_it_or_not_at_all(name: str, number: str) -> None:
    dialect, screen = dialect_named(name), Screen(width=1920, height=1080)
    sayable = dialect.sayable(CallTool(name="search", arguments={"most": 12345}))
    if sayable is None:
        return
    text = dialect.write("I look.", sayable, screen).replace("12345", number)
    read = dialect.parse(text, screen)
    assert isinstance(read, Unparsed) or json_fault(read.action.model_dump()) is None
