"""`./pilothouse parse`: cases that others reported, and what it does with any input."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from protocol.dialects.cli import ReplyLine, parse_line, parse_lines
from protocol.dialects.dialect import ScreenSize
from protocol.dialects.families import get_dialect

CASES = Path(__file__).parents[3] / "fixtures" / "replies.jsonl"
SCREEN = ScreenSize(width=1920, height=1080)
CLICK = "Thought: So.\nAction: click(start_box='(500,500)')"


def cases() -> list[Any]:
    read = [json.loads(line) for line in CASES.read_text().splitlines()]
    return [pytest.param(case, id=f"{case['id']}-{case['dialect']}") for case in read]


@pytest.mark.parametrize("case", cases())
def test_replies_that_others_reported(case: dict[str, Any]) -> None:
    said = parse_line(ReplyLine(id=case["id"], reply=case["reply"]), get_dialect(case["dialect"]), SCREEN)
    expected = case["expected"]
    if isinstance(expected, str):
        assert said.get("error") in expected.removeprefix("one of ").split(), said
        assert said["message"]
        return
    (action,) = said["actions"]
    thought = {"thought": said["thought"]} if "thought" in expected else {}
    assert {key: action[key] for key in expected if key != "thought"} | thought == expected


def read(*lines: dict[str, Any] | bytes, finish_reason: str | None = None) -> list[dict[str, Any]]:
    given = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    return list(parse_lines(given, get_dialect("ui_tars_1_0"), SCREEN, finish_reason=finish_reason))


def test_an_answer_names_its_line() -> None:
    first, second = read({"id": 7, "reply": CLICK, "more": 1}, {"id": "b", "reply": "Hm."})
    assert first == {"id": 7, "actions": [{"kind": "click", "x": 960, "y": 540}], "thought": "So."}
    assert (second["id"], second["error"]) == ("b", "no_action")


def test_reasoning_is_the_thought_and_never_an_action() -> None:
    both, alone = read({"id": 1, "reply": CLICK, "reasoning": "Hm."}, {"id": 2, "reply": "", "reasoning": CLICK})
    assert both["thought"] == "Hm.\nSo."
    assert alone["error"] == "no_action"
    assert "reasoning parser" in alone["message"]


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("length", "unfinished_call"),
        ("MAX_TOKENS", "unfinished_call"),
        ("abort", "unfinished_call"),
        ("cut", "unfinished_call"),
        ("content_filter", "filtered"),
        ("stop", None),
    ],
)
def test_a_reply_that_did_not_end_is_refused_whatever_it_looks_like(reason: str, code: str | None) -> None:
    assert read({"id": 1, "reply": CLICK}, finish_reason=reason)[0].get("error") == code
    assert read({"id": 1, "reply": CLICK, "finish_reason": reason})[0].get("error") == code


@pytest.mark.parametrize(
    "line", [b"{", b"[]", b"3", b'{"id": 1}', b'{"reply": 3}', b"\xff", b'{"id": 1, "reply": [1]}']
)
def test_a_line_that_cannot_be_read_is_answered_and_the_next_is_read(line: bytes) -> None:
    bad, good = read(line, b"", {"id": 1, "reply": CLICK})
    assert (bad["id"], bad["error"]) == (None, "bad_line")
    assert good["id"] == 1


def test_half_an_emoji_is_survived() -> None:
    (said,) = read(b'{"id": 1, "reply": "Thought: \\ud83d\\nAction: wait()"}')
    assert said["actions"][0]["kind"] == "wait"


def test_the_program_reads_lines_and_writes_lines() -> None:
    given = (json.dumps({"id": 1, "reply": CLICK}) + "\n").encode() * 2
    command = [sys.executable, "-m", "protocol.dialects.cli", "--dialect", "ui_tars_1_0", "--size", "1920x1080"]
    done = subprocess.run(command, input=given, capture_output=True, check=True)
    assert [json.loads(line)["actions"][0]["x"] for line in done.stdout.splitlines()] == [960, 960]
