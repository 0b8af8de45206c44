"""Spoiled replies: read exactly or refused, in every dialect, and never read as another action."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.parts.fuzzing.replies import TEXTS, TURNS, cases, classify_reading, measure
from protocol.actions.types import Action, Click, Drag, Finish, Point, RunCommand, Scroll, TypeText
from protocol.dialects.action_readers import ACTION_READERS
from protocol.dialects.dialect import ParsedReply, ScreenSize, UnparsedReply
from protocol.dialects.families import get_dialect, list_dialects
from protocol.dialects.reply_wrappers import FUNCTION_NAMES

SCREEN = ScreenSize(width=1920, height=1080)
POINT = Point(x=960, y=540)
SAID: tuple[Action, ...] = (
    Click(x=960, y=540),
    Drag(start=POINT, end=Point(x=96, y=54)),
    Scroll(point=POINT, direction="down", amount=7),
    TypeText(text="it's \"one\"\n(two')"),
    Finish(answer="42"),
)


def test_no_reply_becomes_another_action_and_few_whole_ones_are_refused() -> None:
    found = measure(14_000, seed=20_261_128)
    assert found["another"] == 0, found["examples"]
    share = found["whole_refused_share"]
    assert isinstance(share, float)
    assert share <= 0.01


@settings(max_examples=40)
@given(st.integers(min_value=0))
def test_no_reply_becomes_another_action_whatever_the_seed(seed: int) -> None:
    for _, case in zip(range(70), cases(seed), strict=False):
        read = get_dialect(case.dialect).parse(case.reply, case.screen)
        assert classify_reading(case, read) != "another", case


def test_cases_are_the_same_for_the_same_seed() -> None:
    first, again, other = ([next(made) for _ in range(20)] for made in (cases(3), cases(3), cases(4)))
    assert first == again
    assert first != other


@pytest.mark.parametrize("name", list_dialects())
@pytest.mark.parametrize("between", ["", "\n", "\n\n"])
def test_a_second_call_never_becomes_the_text_of_the_first(name: str, between: str) -> None:
    dialect = get_dialect(name)
    for text in ("(", "it's (", "('"):
        for second in (")", "b)", "')"):
            turns = [dialect.write("", TypeText(text=each), SCREEN) for each in (text, second)]
            read = dialect.parse(between.join(turns), SCREEN)
            assert isinstance(read, UnparsedReply), read


@pytest.mark.parametrize("name", list_dialects())
@pytest.mark.parametrize("turn", TURNS)
def test_another_turn_after_any_call_is_several_actions(name: str, turn: str) -> None:
    dialect = get_dialect(name)
    said: list[Action] = [Click(x=960, y=540), *(TypeText(text=text) for text in TEXTS)]
    for action in said:
        read = dialect.parse(dialect.write("So.", action, SCREEN) + turn, SCREEN)
        assert isinstance(read, UnparsedReply), read
        assert read.error.code == "several_actions", (action, read)


@pytest.mark.parametrize("name", list_dialects())
@pytest.mark.parametrize("action", SAID, ids=lambda action: action.kind)
def test_a_cut_at_any_character_gives_the_action_or_none(name: str, action: Action) -> None:
    dialect = get_dialect(name)
    whole = dialect.write("I see it.", action, SCREEN)
    due = dialect.parse(whole, SCREEN)
    assert isinstance(due, ParsedReply)
    for end in range(len(whole)):
        read = dialect.parse(whole[:end], SCREEN)
        assert isinstance(read, UnparsedReply) or read.action == due.action, whole[:end]


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("Action: type(content='hello') and then press enter", "unfinished_call"),
        ("Action: type(content='a') b')", "unfinished_call"),
        ("Action: type(content='a')\nb')", "unfinished_call"),
        ("Action: type(content='hello\nThought: next\nAction: wait()", "unfinished_call"),
        ("Action: type(content=hello\nAction: hotkey(key='a'))", "unfinished_call"),
        ("Action: None\nObservation: x\nThought: b\nAction: finished()", "several_actions"),
        ("click(start_box='(1,2)')\nObservation: ok\nAction: wait()", "several_actions"),
        ("Action: wait()\nThought: Because it loads.", "several_actions"),
        ("Action: wait()<|im_end|>\n<|im_start|>user", "several_actions"),
        ("<think>I could\nAction: wait()\nbut that is wrong", "unfinished_call"),
        ("<think>Action: wait()</think>", "no_action"),
        ("<think>Hm.", "no_action"),
        ("Hm.\nAction: wait()\n</think>\nAction: finished()", "several_actions"),
        ("Action: type_terminal(content='echo 'a', session='b')", "unfinished_call"),
    ],
)
def test_what_could_be_two_things_is_refused(reply: str, code: str) -> None:
    read = get_dialect("ui_tars_1_0").parse(reply, SCREEN)
    assert isinstance(read, UnparsedReply), read
    assert read.error.code == code


@pytest.mark.parametrize(
    ("name", "reply", "code"),
    [
        ("ui_tars_2", "<function=type><parameter=content>a</function>\n<function=wait></function>", "unfinished_call"),
        (
            "ui_tars_2",
            "<function=type><parameter=content>a</function><function=type><parameter=content>b</parameter></function>",
            "unfinished_call",
        ),
        ("json_calls", '[{"action": "wait"},', "unfinished_call"),
        ("json_calls", '[{"action": "wait"}', "unfinished_call"),
        ("json_calls", 'Action: wait()\n{"action": "finished"}', "several_actions"),
        ("json_calls", '{"actions": [{"action": "wait"}, {"action": "wait"}]}', "several_actions"),
        ("json_calls", "{'action': 'wait'}", "no_action"),
        ("json_calls", '{"action": "type", "content": "a", "text": "b"}', "bad_arguments"),
        ("json_calls", '{"action": "terminate", "status": "maybe"}', "bad_value"),
        (
            "opencua",
            "```python\npyautogui.click(1, 2)\n```\n## Code:\n```python\ncomputer.wait()\n```",
            "several_actions",
        ),
        ("opencua", "## Code:\npyautogui.click(1, 2)\n\n## Thought:\nThen I wait.", "several_actions"),
        ("opencua", "pyautogui.click(x=1, y=2)\npyautogui.wri", "unknown_action"),
    ],
)
def test_other_grammars_refuse_what_could_be_two_things(name: str, reply: str, code: str) -> None:
    read = get_dialect(name).parse(reply, SCREEN)
    assert isinstance(read, UnparsedReply), read
    assert read.error.code == code


CALL = "click(start_box='(500,500)')"


@pytest.mark.parametrize(
    ("reply", "thought"),
    [
        (f"<think>One.</think>\n<think>Two.</think>\nThought: Three.\nAction: {CALL}", "One.\nTwo.\nThree."),
        (f"One, at 'it'.\n</think>\n\nThought: Two.\nAction: {CALL}", "One, at 'it'.\nTwo."),
        (f"<thinking>I could\nAction: wait()\nor not.</thinking>\nAction: {CALL}", "I could\nAction: wait()\nor not."),
        (f"# Step 3:\nThought: One.\nAction: {CALL}", "One."),
        (f"**Thought**: One.\n**Action**: `{CALL}`", "One."),
        (f"### Thought: One.\n### Action: {CALL}", "One."),
        (f"<|im_start|>assistant\nObservation: One.\nAction: {CALL}", "One."),
        (f"Thought: One.\n```\nAction: {CALL}\n```", "One."),
        (f"<answer>Thought: One.\r\nAction: {CALL}\r\n</answer>", "One."),
        (f"Thought: One.\nAction: <|begin_of_box|>{CALL}<|end_of_box|>\nI click it (once).", "One."),
    ],
)
def test_wrappers_are_no_part_of_a_thought(reply: str, thought: str) -> None:
    read = get_dialect("ui_tars_1_0").parse(reply, SCREEN)
    assert isinstance(read, ParsedReply), read
    assert (read.thought, read.action, read.action_text) == (thought, Click(x=960, y=540), CALL)


@pytest.mark.parametrize(
    ("name", "reply", "code", "words"),
    [
        ("json_calls", '{"action": "click", "point": [0.5, 0.3]}', "wrong_space", "0 to 1"),
        ("json_calls", '{"action": "click", "point": "0.4518237462837, 0.2"}', "wrong_space", "0 to 1"),
        ("json_calls", '{"action": "click", "point": [0.0, 1.0]}', "wrong_space", "0 to 1"),
        ("json_calls", '{"action": "click", "point": [1530, 42]}', "wrong_space", "ui_tars_1_5"),
        ("json_calls", '{"action": "click", "point": [6640, 42]}', "off_screen", "1000 by 1000"),
        ("ui_tars_1_5", "Action: click(point='<point>0.5 0.3</point>')", "wrong_space", "0 to 1"),
        ("opencua", "## Code:\npyautogui.click(x=0.52, y=0.3)", "wrong_space", "0 to 1"),
        ("doubao_1_5_ui_tars", "Action: click(point='<point>1600 900</point>')", "wrong_space", "pixels"),
        ("ui_tars_1_0", "Action: click(start_box='')", "bad_point", "skip_special_tokens"),
        ("ui_tars_1_5", '{"action": "click", "arguments": {"point": [1, 2]}}', "no_action", "json_calls"),
        ("json_calls", "Action: wait()", "no_action", "ui_tars_1_5"),
        ("ui_tars_1_5", "## Code:\n```python\npyautogui.click(x=1, y=2)\n```", "no_action", "opencua"),
        ("opencua", "<function=wait></function>", "no_action", "ui_tars_2"),
    ],
)
def test_a_refusal_says_what_would_help(name: str, reply: str, code: str, words: str) -> None:
    read = get_dialect(name).parse(reply, SCREEN)
    assert isinstance(read, UnparsedReply), read
    assert read.error.code == code
    assert words in read.error.message


@pytest.mark.parametrize(
    ("reply", "action"),
    [
        (
            '{"action": "scroll", "pixels": -3000, "coordinate": [500, 500]}',
            Scroll(point=POINT, direction="down", amount=30),
        ),
        ('{"action": "scroll", "pixels": 5}', Scroll(direction="up", amount=1)),
        ('{"action": "hscroll", "pixels": 200}', Scroll(direction="right", amount=2)),
        ('{"action": "scroll", "direction": "up", "amount": 5000}', Scroll(direction="up", amount=100)),
        (
            '{"action": "left_click_drag", "start_coordinate": [500, 500], "coordinate": [50, 50]}',
            Drag(start=POINT, end=Point(x=96, y=54)),
        ),
        ('{"action": "wait"}} and then I look', None),
        ('{"actions": [{"action": "finished", "content": "5"}]}', Finish(answer="5")),
        ('<|im_start|>assistant\nThought: So.\nAction:\n{"tool_calls": [{"function": {"name": "wait"}}]}', None),
        ('I see {"id": 5}.\n{"action": "finished", "arguments": {"content": "5",},}', Finish(answer="5")),
        ('{"name": "run_command", "arguments": {"command": "a\nb"}}', RunCommand(command="a\nb")),
    ],
)
def test_json_of_computer_tools(reply: str, action: Action | None) -> None:
    read = get_dialect("json_calls").parse(reply, SCREEN)
    assert isinstance(read, ParsedReply), read
    assert action is None or read.action == action


def test_every_function_is_known_as_a_call() -> None:
    assert set(FUNCTION_NAMES) == set(ACTION_READERS)
