"""Dialects of hosted models: what their makers document is read, and what they are offered can be done."""

import json
from pathlib import Path
from typing import Any

import pytest

from protocol.actions.types import ACTION_ADAPTER, Click, Infeasible, Scroll
from protocol.dialects.dialect import ParsedReply, ScreenSize, UnparsedReply
from protocol.dialects.families import get_dialect
from protocol.dialects.tool_calls import FUNCTIONS, ToolDialect, fitted_grid

VECTORS = [
    json.loads(line)
    for line in (Path(__file__).parents[3] / "fixtures" / "provider_vectors.jsonl").read_text().splitlines()
]
NAMES = ("anthropic", "openai_computer", "gemini_computer")
SCREEN = ScreenSize(width=1024, height=768)


def dialect_of(name: str) -> ToolDialect:
    dialect = get_dialect(name)
    assert isinstance(dialect, ToolDialect)
    return dialect


@pytest.mark.parametrize("row", VECTORS, ids=lambda row: f"{row['dialect']} {row['reply'][:60]}")
def test_what_the_makers_document_is_read_exactly(row: dict[str, Any]) -> None:
    width, height = map(int, row["size"].split("x"))
    read = get_dialect(row["dialect"]).parse(
        row["reply"], ScreenSize(width=width, height=height), reasoning=row.get("reasoning", "")
    )
    assert isinstance(read, ParsedReply), read
    assert [read.action] == [ACTION_ADAPTER.validate_python(action) for action in row["actions"]]
    assert read.thought == row.get("thought", "")
    assert row["source"].startswith("https://")
    assert isinstance(row["quoted"], bool)


def block(name: str, arguments: dict[str, Any], *, native: bool = True) -> str:
    toolset = {"toolset_name": "computer"} if native else {}
    return json.dumps({"type": "tool_use", "id": "toolu_1", "name": name, **toolset, "input": arguments})


def computer_call(*actions: dict[str, Any]) -> str:
    return json.dumps({"type": "computer_call", "call_id": "call_1", "actions": actions})


def function_call(name: str, **arguments: Any) -> str:
    return json.dumps({"functionCall": {"name": name, "args": arguments}})


@pytest.mark.parametrize(
    ("name", "reply", "code"),
    [
        ("anthropic", "The task is done.", "no_action"),
        ("anthropic", block("left_click", {"coordinate": [0.5, 0.5]}), "wrong_space"),
        ("anthropic", block("left_click", {"coordinate": [1300, 20]}), "off_screen"),
        ("anthropic", block("hold_key", {"text": "shift", "duration": 2}), "several_actions"),
        ("anthropic", block("key", {"text": "Down", "repeat": 3}), "several_actions"),
        ("anthropic", block("cursor_position", {}), "unknown_action"),
        ("anthropic", block("finished", {"content": "x"}), "unknown_action"),
        ("anthropic", block("scroll", {"coordinate": [1, 2]}), "bad_arguments"),
        ("anthropic", block("left_click", {"coordinate": [1, 2]}) + "\n" + block("screenshot", {}), "several_actions"),
        ("anthropic", block("left_click", {"coordinate": [1, 2]})[:-9], "unfinished_call"),
        ("anthropic", json.dumps({"type": "tool_use", "name": "computer", "input": {}}), "bad_arguments"),
        ("openai_computer", computer_call({"type": "wait"}, {"type": "screenshot"}), "several_actions"),
        ("openai_computer", computer_call({"type": "fly", "x": 1, "y": 2}), "unknown_action"),
        ("openai_computer", computer_call(), "bad_arguments"),
        (
            "openai_computer",
            computer_call({"type": "scroll", "x": 1, "y": 2, "scroll_x": 0, "scroll_y": 0}),
            "bad_value",
        ),
        ("openai_computer", computer_call({"type": "move", "x": 1, "y": 2, "keys": ["CTRL"]}), "several_actions"),
        ("openai_computer", '{"type": "function_call", "name": "finished", "arguments": "{"}', "bad_arguments"),
        ("gemini_computer", function_call("type_text_at", x=1, y=2, text="a"), "several_actions"),
        ("gemini_computer", function_call("open_web_browser"), "unknown_action"),
        ("gemini_computer", function_call("click_at", x=1200, y=2), "off_screen"),
        ("gemini_computer", function_call("drag_and_drop", x=1, y=2), "bad_arguments"),
        ("gemini_computer", function_call("scroll", x=1, y=2, direction="away"), "bad_value"),
        ("gemini_computer", function_call("type", text="a", press_enter="maybe"), "bad_value"),
    ],
)
def test_what_cannot_be_done_as_it_was_said_is_refused(name: str, reply: str, code: str) -> None:
    read = get_dialect(name).parse(reply, SCREEN)
    assert isinstance(read, UnparsedReply), read
    assert read.error.code == code


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("platform", ["desktop", "browser", "phone", "terminal"])
def test_functions_are_offered_for_what_can_be_done_and_the_makers_tool_lacks(name: str, platform: Any) -> None:
    dialect = dialect_of(name)
    kinds = {"click", "finish", "infeasible", "run_command", "call_tool", "press_home"}
    offered = [function.name for function in dialect.functions(platform, kinds)]
    done = {
        "desktop": ["run_command", "finished", "infeasible"],
        "phone": ["press_home", "finished", "infeasible"],
    }
    assert offered == done.get(platform, done["desktop"])
    if platform != "phone":
        assert "call_tool" in [function.name for function in dialect.functions(platform, kinds, tools=True)]


@pytest.mark.parametrize("kind", sorted(FUNCTIONS))
def test_every_function_declares_the_arguments_it_needs(kind: str) -> None:
    function = FUNCTIONS[kind]
    assert set(function.required) <= set(function.schema["properties"])
    assert function.description


@pytest.mark.parametrize("name", NAMES)
def test_a_turn_comes_apart_into_its_thought_and_its_call(name: str) -> None:
    dialect = dialect_of(name)
    turn = dialect.write("It cannot be done.", Infeasible(reason='No "printer".'), SCREEN)
    thought, calls = dialect.codec.split(turn)
    assert thought == "It cannot be done."
    assert len(calls) == 1
    assert dialect.codec.split("Nothing was called.") == ("Nothing was called.", ())
    assert dialect.codec.split(turn[:-3])[1] == ()


def test_points_are_pixels_of_the_picture_that_is_sent() -> None:
    large = ScreenSize(width=2560, height=1440)
    assert fitted_grid(1_568, 1_150_000)(large) == (1429, 804)
    assert fitted_grid(1_568, 10**9)(large) == (1568, 882)
    dialect = dialect_of("anthropic")
    read = dialect.parse(block("left_click", {"coordinate": [714, 402]}), large)
    assert isinstance(read, ParsedReply)
    assert read.action == Click(x=1279, y=720)
    unscaled = dialect.scaled(4_000, 10**9).parse(block("left_click", {"coordinate": [714, 402]}), large)
    assert isinstance(unscaled, ParsedReply)
    assert unscaled.action == Click(x=714, y=402)


def test_an_empty_amount_of_a_function_is_its_default() -> None:
    read = get_dialect("openai_computer").parse(
        json.dumps({"type": "function_call", "name": "scroll", "arguments": '{"direction": "up"}'}), SCREEN
    )
    assert isinstance(read, ParsedReply)
    assert read.action == Scroll(direction="up")
