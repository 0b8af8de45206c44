"""Numbers and texts that JSON has no place for: refused on the way in, never written on the way out."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from protocol.actions.types import CallTool, Click
from protocol.base import MAX_DEPTH, find_json_error
from protocol.dialects.dialect import ScreenSize, UnparsedReply
from protocol.dialects.families import get_dialect, list_dialects
from protocol.trajectory.proposals import Proposal
from protocol.trajectory.tasks import Task
from tests.unit.protocol.examples import observation, proposal

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
        document = json.loads(proposal(1, Click(x=1, y=1)).model_dump_json()) | json.loads("{" + field % number + "}")
        with pytest.raises(ValidationError):
            Proposal.model_validate(document)


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
    fault = find_json_error(value)
    assert fault is not None
    assert fault[0] == path
    fault[1].encode()


def test_what_json_can_hold_has_no_fault() -> None:
    assert find_json_error({"a": [1, 1.5, None, True, "中 \x00 😀", {"b": 10**400}]}) is None


def test_what_is_taken_is_not_too_deep_to_be_read_again() -> None:
    def nested(depth: int) -> dict[str, Any]:
        value: Any = 1
        for _ in range(depth):
            value = {"a": value}
        return {"id": "a", "instruction": "Do", "parameters": value}

    task = Task.model_validate(nested(MAX_DEPTH))
    assert Task.model_validate_json(task.model_dump_json()) == task
    for depth in (MAX_DEPTH + 1, 500, 900):
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


@pytest.mark.parametrize("name", list_dialects())
@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_a_reply_with_such_a_number_is_read_without_it_or_not_at_all(name: str, number: str) -> None:
    dialect, screen = get_dialect(name), ScreenSize(width=1920, height=1080)
    supported_form = dialect.supported_form(CallTool(name="search", arguments={"most": 12345}))
    if supported_form is None:
        return
    text = dialect.write("I look.", supported_form, screen).replace("12345", number)
    read = dialect.parse(text, screen)
    assert isinstance(read, UnparsedReply) or find_json_error(read.action.model_dump()) is None
