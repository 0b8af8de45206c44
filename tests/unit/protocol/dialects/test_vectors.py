"""Replies in the makers' grammars are read exactly, and the registry of families names what there is."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from protocol.actions.types import ACTION_ADAPTER
from protocol.dialects.dialect import ParsedReply, ScreenSize, UnparsedReply
from protocol.dialects.families import get_dialect, list_dialects

ROOT = Path(__file__).parents[4]
VECTORS = [json.loads(line) for line in (ROOT / "tests/fixtures/dialect_vectors.jsonl").read_text().splitlines()]


def test_replies_in_the_makers_grammars_are_read_exactly(subtests: pytest.Subtests) -> None:
    for row in VECTORS:
        with subtests.test(dialect=row["dialect"], reply=row["reply"]):
            width, height = map(int, row["size"].split("x"))
            read = get_dialect(row["dialect"]).parse(row["reply"], ScreenSize(width=width, height=height))
            assert isinstance(read, ParsedReply), read
            assert [read.action] == [ACTION_ADAPTER.validate_python(action) for action in row["actions"]]
            assert read.thought == row.get("thought", "")
            assert row["source"].startswith("https://")
            assert isinstance(row["quoted"], bool)


SCREEN = ScreenSize(width=1000, height=1000)


def tool(name: str, **arguments: Any) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def holo(**action: Any) -> str:
    return json.dumps({"note": "", "thought": "So.", "action": action})


@pytest.mark.parametrize(
    ("name", "reply", "code"),
    [
        ("qwen_computer", tool("computer_use", action="left_click", coordinate=[0.5, 0.5]), "wrong_space"),
        ("qwen_computer", tool("computer_use", action="fly"), "unknown_action"),
        ("qwen_computer", tool("computer_use", coordinate=[1, 2]), "bad_arguments"),
        ("qwen_computer", tool("computer_use", action="wait") + tool("computer_use", action="wait"), "several_actions"),
        ("qwen_computer", "<tool_call>\n<function=computer><parameter=action>wait</parameter>", "unfinished_call"),
        ("qwen_computer", "<tool_call>\n", "unfinished_call"),
        ("qwen_computer", "The task is done.", "no_action"),
        ("qwen_mobile", tool("mobile_use", action="system_button", button="Menu"), "bad_value"),
        ("fara", tool("computer_use", action="type", text="a", coordinate=[1, 2]), "several_actions"),
        ("fara", tool("computer_use", action="type", text="a", delete_existing_text=True), "several_actions"),
        ("fara", tool("computer_use", action="web_search"), "bad_arguments"),
        ("holo", holo(action="write_element_abs", content="a", element="b", x=1, y=2), "several_actions"),
        ("holo", holo(action="restart"), "unknown_action"),
        ("glm_v", "left_click(start_box='[1,2]'); WAIT()", "several_actions"),
        ("glm_v", "left_click(start_box='[1,2]'", "unfinished_call"),
        ("ui_venus", "<action>GetScreenshot()</action>", "unknown_action"),
        ("ui_venus", "<action>Hotkey(keys=['a'], repeat=3)</action>", "several_actions"),
        ("autoglm_phone", '<answer>do(action="Note", message="True")</answer>', "unknown_action"),
        ("autoglm_phone", '<answer>do(action="Back")\ndo(action="Home")</answer>', "several_actions"),
    ],
)
def test_what_cannot_be_done_as_one_action_is_refused_by_name(name: str, reply: str, code: str) -> None:
    read = get_dialect(name).parse(reply, SCREEN)
    assert isinstance(read, UnparsedReply), read
    assert read.error.code == code


def test_every_dialect_has_replies_in_its_makers_grammar() -> None:
    assert {row["dialect"] for row in VECTORS} >= set(list_dialects()) - {
        *("anthropic", "openai_computer", "gemini_computer")
    }


FAMILIES = tomllib.loads((ROOT / "protocol/dialects/registry.toml").read_text())["family"]


def test_the_registry_names_a_dialect_its_space_and_a_reply_of_each_family() -> None:
    assert len({family["name"] for family in FAMILIES}) == len(FAMILIES) >= 20
    for family in FAMILIES:
        vector = VECTORS[family["vector"] - 1]
        assert (vector["dialect"], vector["source"]) == (family["dialect"], family["source"]), family
        assert family["space"] == ("pixels" if get_dialect(family["dialect"]).absolute else "thousandths"), family


def test_the_registry_says_where_each_licence_of_open_weights_was_read() -> None:
    for family in FAMILIES:
        if family["licence"] not in ("hosted", "no public weights", "the model's own"):
            assert family["licence_source"].startswith("https://"), family
            assert "model card" not in family["licence"], family


def test_the_documentation_has_the_registrys_table() -> None:
    table = (ROOT / "docs/reference/dialects.md").read_text()
    for family in FAMILIES:
        fields = (family[key] for key in ("name", "space", "resize", "serving", "licence"))
        name, *rest = fields
        assert "| " + " | ".join((name, f"`{family['dialect']}`", *rest)) + " |" in table, family
