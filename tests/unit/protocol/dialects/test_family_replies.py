"""Replies of the other families: their published forms, what others make of them, and how they go wrong."""

import pytest

from protocol.actions.types import (
    Action,
    CallTool,
    Click,
    DoubleClick,
    Drag,
    DragPath,
    EditFile,
    Finish,
    Infeasible,
    MouseClick,
    MouseDown,
    MoveTo,
    NavigateBack,
    Point,
    Press,
    PressKeys,
    ReadFile,
    RightClick,
    RunCode,
    RunCommand,
    Scroll,
    Swipe,
    TripleClick,
    TypeText,
    Wait,
    WriteFile,
)
from protocol.dialects.dialect import ParsedReply, ScreenSize, UnparsedReply
from protocol.dialects.families import get_dialect

SQUARE = ScreenSize(width=1000, height=1000)
FULL_HD = ScreenSize(width=1920, height=1080)


def seed(*functions: str) -> str:
    return f"<seed:tool_call>{''.join(functions)}</seed:tool_call>"


def function(name: str, **parameters: str) -> str:
    given = "".join(f"<parameter={key}>{value}</parameter>" for key, value in parameters.items())
    return f"<function={name}>{given}</function>"


def code(text: str) -> str:
    return f"## Thought:\nSo.\n\n## Action:\nDo it.\n\n## Code:\n```python\n{text}\n```"


CLICK = Click(x=112, y=56)
READ = [
    ("ui_tars_2", seed(function("click", point="<point>112 56</point>")), CLICK),
    ("ui_tars_2", f"<think>So.</think>{function('click', point='<point>112 56</point>')}", CLICK),
    ("ui_tars_2", "<think_never_used_51b>So.</think_never_used_51b>click>point>point>112 56", CLICK),
    ("ui_tars_2", seed(function("execute_bash", command="ls -la")), RunCommand(command="ls -la")),
    ("ui_tars_2", seed(function("execute_bash", command="\nls\npwd\n")), RunCommand(command="ls\npwd")),
    ("ui_tars_2", seed(function("type", content="final.txt\n")), TypeText(text="final.txt\n")),
    ("ui_tars_2", seed(function("JupyterCI", code="1 < 2", timeout="9")), RunCode(code="1 < 2", timeout=9)),
    ("ui_tars_2", seed(function("str_replace_editor", command="view", path="a")), ReadFile(path="a")),
    (
        "ui_tars_2",
        seed(function("str_replace_editor", command="create", path="a", file_text="b")),
        WriteFile(path="a", text="b"),
    ),
    (
        "ui_tars_2",
        seed(function("str_replace_editor", command="str_replace", path="a", old_str="b", new_str="c")),
        EditFile(path="a", old="b", new="c"),
    ),
    ("ui_tars_2", seed(function("Search", query="3")), CallTool(name="Search", arguments={"query": "3"})),
    (
        "ui_tars_2",
        seed(function("LinkReader", url="http://a", description="b")),
        CallTool(name="LinkReader", arguments={"url": "http://a", "description": "b"}),
    ),
    ("ui_tars_2", seed(function("wait", time="2")), Wait(seconds=2)),
    ("ui_tars_2", seed(function("mouse_down", button="right")), MouseDown(button="right")),
    ("opencua", code("pyautogui.click(x=112, y=56)"), CLICK),
    ("opencua", code("import pyautogui\npyautogui.click(112, 56)"), CLICK),
    ("opencua", code("pyautogui.click(x=112, y=56, clicks=2)"), DoubleClick(x=112, y=56)),
    ("opencua", code("pyautogui.click(112, 56, button='right')"), RightClick(x=112, y=56)),
    ("opencua", code("pyautogui.moveTo(112, 56)\npyautogui.click()"), CLICK),
    ("opencua", code("computer.triple_click(x=112, y=56)"), TripleClick(x=112, y=56)),
    ("opencua", code("computer.tripleClick(x=112, y=56)"), TripleClick(x=112, y=56)),
    ("opencua", code("pyautogui.moveTo(1, 2)"), MoveTo(x=1, y=2)),
    (
        "opencua",
        code("pyautogui.moveTo(x=1, y=2)\npyautogui.dragTo(x=3, y=4, button='left')"),
        Drag(start=Point(x=1, y=2), end=Point(x=3, y=4)),
    ),
    (
        "opencua",
        code("pyautogui.moveTo(1, 2)\npyautogui.scroll(-3)"),
        Scroll(point=Point(x=1, y=2), direction="down", amount=3),
    ),
    ("opencua", code("pyautogui.hscroll(2)"), Scroll(direction="right", amount=2)),
    ("opencua", code("pyautogui.write(message='a\\nb', interval=0.1)"), TypeText(text="a\nb")),
    ("opencua", code("pyautogui.hotkey(['ctrl', 'c'])"), PressKeys(keys=("ctrl", "c"))),
    ("opencua", code("pyautogui.hotkey('ctrl', 'c')"), PressKeys(keys=("ctrl", "c"))),
    ("opencua", code("pyautogui.press('enter')"), PressKeys(keys=("enter",))),
    ("opencua", code("pyautogui.keyDown('shift')"), Press(key="shift")),
    ("opencua", code("computer.terminate(status='success')"), Finish()),
    ("opencua", code("computer.terminate('failure')"), Infeasible()),
    ("opencua", code("pyautogui.click()"), MouseClick()),
    ("opencua", code("pyautogui.click(button='right', clicks=2)"), MouseClick(button="right", clicks=2)),
    (
        "opencua",
        code("pyautogui.keyDown('ctrl')\npyautogui.click(x=112, y=56)\npyautogui.keyUp('ctrl')"),
        MouseClick(point=Point(x=CLICK.x, y=CLICK.y), keys=("ctrl",)),
    ),
    ("opencua", code("pyautogui.dragTo(x=112, y=56)"), DragPath(points=(Point(x=CLICK.x, y=CLICK.y),))),
    ("opencua", code("answer('42')"), Finish(answer="42")),
    ("opencua", code("time.sleep(2)"), Wait(seconds=2)),
    ("opencua", "pyautogui.click(x=112, y=56)", CLICK),
    ("opencua", "# Step 3:\n## Code: \npyautogui.click(x=112, y=56)", CLICK),
    (
        "opencua",
        code("mobile.swipe([1, 2], [3, 4], direction='up')"),
        Swipe(start=Point(x=1, y=2), end=Point(x=3, y=4)),
    ),
    ("json_calls", '{"action": "click", "arguments": {"point": [112, 56]}}', CLICK),
    ("json_calls", '```json\n{"action": "click", "x": 112, "y": 56}\n```', CLICK),
    ("json_calls", 'So.\n<tool_call>\n{"name": "click", "arguments": {"x": 112, "y": 56}}\n</tool_call>', CLICK),
    ("json_calls", '{"name": "click", "arguments": "{\\"coordinate\\": [112, 56]}"}', CLICK),
    ("json_calls", '{"function": {"name": "click", "arguments": {"point": {"x": 112, "y": 56}}}}', CLICK),
    ("json_calls", '[{"kind": "click", "x": 112, "y": 56}]', CLICK),
    ("json_calls", '{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [112, 56]}}', CLICK),
    ("json_calls", '{"action": "key", "keys": ["ctrl", "c"]}', PressKeys(keys=("ctrl", "c"))),
    ("json_calls", '{"action": "type", "text": "{a}"}', TypeText(text="{a}")),
    ("json_calls", 'I {think} so: {"action": "wait", "time": 2}', Wait(seconds=2)),
    ("json_calls", '{"action": "navigate_back", "arguments": null}', NavigateBack()),
    ("json_calls", '{"action": "terminate", "arguments": {"answer": "42"}}', Finish(answer="42")),
    (
        "json_calls",
        '{"action": "call_tool", "arguments": {"name": "s.t", "arguments": {"text": "a", "x": 1, "y": 2}}}',
        CallTool(name="s.t", arguments={"text": "a", "x": 1, "y": 2}),
    ),
    ("doubao_1_5_ui_tars_15b", "Action: click(start_box='[102, 46, 122, 66]')", CLICK),
    ("doubao_1_5_ui_tars", "Thought: So.\nAction: click(point='<point>112 56</point>')", CLICK),
]


@pytest.mark.parametrize(("name", "reply", "action"), READ)
def test_every_form(name: str, reply: str, action: Action) -> None:
    screen = ScreenSize(width=1008, height=1008) if name == "opencua" else SQUARE
    parsed = get_dialect(name).parse(reply, screen)
    assert isinstance(parsed, ParsedReply), parsed
    assert parsed.action == action


REFUSED = [
    ("ui_tars_2", "", "no_action"),
    ("ui_tars_2", "The task is done.", "no_action"),
    ("ui_tars_2", "<think>I should clo", "no_action"),
    ("ui_tars_2", "<seed:tool_call>", "unfinished_call"),
    ("ui_tars_2", "<seed:tool_call><function=click>", "unfinished_call"),
    ("ui_tars_2", "<seed:tool_call><function=type><parameter=content>rm -rf", "unfinished_call"),
    ("ui_tars_2", "<function=type><parameter=content>a</parameter>", "unfinished_call"),
    ("ui_tars_2", seed(function("wait"), function("wait")), "several_actions"),
    ("ui_tars_2", seed(function("teleport")), "unknown_action"),
    ("ui_tars_2", seed(function("click")), "bad_arguments"),
    ("ui_tars_2", seed(function("click", point="<point>1001 5</point>")), "off_screen"),
    ("ui_tars_2", seed(function("click", point="<point>5</point>")), "bad_point"),
    ("ui_tars_2", seed(function("str_replace_editor", command="insert", path="a")), "bad_value"),
    (
        "ui_tars_2",
        seed("<function=wait><parameter=time>1</parameter><parameter=time>2</parameter></function>"),
        "bad_arguments",
    ),
    ("opencua", "", "no_action"),
    ("opencua", "## Thought:\nI do not know.", "no_action"),
    ("opencua", "## Code:\n```python\n```", "no_action"),
    ("opencua", "## Code:\n```python\npyautogui.click(x=1, y=2)", "unfinished_call"),
    ("opencua", code("pyautogui.write(message='rm -rf"), "unfinished_call"),
    ("opencua", code("pyautogui.click(x=1, y=2)\npyautogui.click(x=3, y=4)"), "several_actions"),
    ("opencua", code("pyautogui.press(['a', 'b'])"), "several_actions"),
    ("opencua", f"{code('computer.wait()')}\n\n{code('computer.wait()')}", "several_actions"),
    ("opencua", code("__import__('os').system('true')"), "unknown_action"),
    ("opencua", code("os.system('true')"), "unknown_action"),
    ("opencua", code("for _ in range(9):\n    pyautogui.click(1, 2)"), "unknown_action"),
    ("opencua", code("pyautogui.screenshot()"), "unknown_action"),
    ("opencua", code("pyautogui.click(x=1 + 1, y=2)"), "bad_value"),
    ("opencua", code("pyautogui.click(x=open('a'), y=2)"), "bad_value"),
    ("opencua", code("pyautogui.click(x=1, y=99999)"), "off_screen"),
    ("opencua", code("pyautogui.click(x=3)"), "bad_arguments"),
    ("opencua", code("pyautogui.click(clicks=4)"), "bad_value"),
    ("opencua", code("pyautogui.keyDown('ctrl')\npyautogui.click(1, 2)\npyautogui.keyUp('alt')"), "several_actions"),
    ("opencua", code("pyautogui.keyDown('ctrl')\npyautogui.write('a')\npyautogui.keyUp('ctrl')"), "several_actions"),
    ("opencua", code("pyautogui.click(1, 2, x=3)"), "bad_arguments"),
    ("opencua", code("pyautogui.click(1, 2, clicks=7)"), "bad_value"),
    ("opencua", code("pyautogui.scroll(0)"), "bad_value"),
    ("opencua", code("pyautogui.hotkey('ctrl', 'hyper')"), "unknown_key"),
    ("json_calls", "", "no_action"),
    ("json_calls", "I think {so}.", "no_action"),
    ("json_calls", '{"thought": "Done."}', "no_action"),
    ("json_calls", '{"action": "type", "arguments": {"content": "rm -rf', "unfinished_call"),
    (
        "json_calls",
        '{"action": "call_tool", "arguments": {"name": "a", "arguments": {"action": "wait", "arguments": {}}',
        "unfinished_call",
    ),
    ("json_calls", '{"action": "wait"} {"action": "wait"}', "several_actions"),
    ("json_calls", '{"action": "wait", "action": "finished"}', "bad_arguments"),
    ("json_calls", '{"action": "click", "point": [1, NaN]}', "bad_value"),
    ("json_calls", '{"action": "click", "point": [1, 1e999]}', "bad_point"),
    ("json_calls", '{"action": "click", "point": [1, 1001]}', "off_screen"),
    ("json_calls", '{"action": ["click"]}', "bad_arguments"),
    ("json_calls", '{"action": "teleport"}', "unknown_action"),
    ("json_calls", '{"name": "click", "arguments": "x"}', "bad_arguments"),
    ("doubao_1_5_ui_tars", "Action: press(key='ctrl')\n\nrelease(key='ctrl')", "several_actions"),
]


@pytest.mark.parametrize(("name", "reply", "why"), REFUSED)
def test_every_failure_has_its_code(name: str, reply: str, why: str) -> None:
    parsed = get_dialect(name).parse(reply, SQUARE)
    assert isinstance(parsed, UnparsedReply), parsed
    assert parsed.error.code == why
    assert parsed.error.message


@pytest.mark.parametrize(
    ("name", "reply", "thought"),
    [
        ("ui_tars_2", f"<think>One.</think>Two.{seed(function('wait'))}", "One.\nTwo."),
        ("ui_tars_2", f"<thinkt>One.{seed(function('wait'))}", "One."),
        (
            "opencua",
            "## Observation:\nA menu.\n\n## Thought:\nI wait.\n\n## Code:\ncomputer.wait()",
            "A menu.\n\nI wait.",
        ),
        ("opencua", code("computer.wait()"), "So."),
        ("json_calls", 'So.\n<tool_call>{"name": "wait"}</tool_call>', "So."),
        ("json_calls", '{"thought": " So. ", "action": "wait"}', " So. "),
    ],
)
def test_the_thought_is_found(name: str, reply: str, thought: str) -> None:
    assert get_dialect(name).parse(reply, SQUARE).thought == thought


GOLDEN = [
    # What UI-TARS publishes with its parser: the call, the screen, and where it lies there as a share of the screen.
    ("ui_tars_1_0", "click(start_box='<|box_start|>(112,224)<|box_end|>')", 224, (0.112, 0.224)),
    ("doubao_1_5_ui_tars", "click(point='<point>200 300</point>')", None, (0.2, 0.3)),
    ("doubao_1_5_ui_tars", "click(start_box='(200,300)')", None, (0.2, 0.3)),
    ("doubao_1_5_ui_tars", "click(start_box='<|box_start|>(200,300)<|box_end|>')", None, (0.2, 0.3)),
    ("ui_tars_1_5", "click(start_box='(197,525)')", None, (197 / 1932, 525 / 1092)),
]


@pytest.mark.parametrize(("name", "call", "side", "share"), GOLDEN)
def test_the_published_examples(name: str, call: str, side: int | None, share: tuple[float, float]) -> None:
    screen = ScreenSize(width=side, height=side) if side else FULL_HD
    parsed = get_dialect(name).parse(f"Thought: Click the button\nAction: {call}", screen)
    assert isinstance(parsed, ParsedReply)
    assert parsed.action == Click(x=round(share[0] * screen.width), y=round(share[1] * screen.height))


def test_a_published_swipe_between_two_boxes() -> None:
    parsed = get_dialect("ui_tars_1_0").parse("Action: scroll(start_box='(800,200)', end_box='(200,800)')", SQUARE)
    assert isinstance(parsed, ParsedReply)
    assert parsed.action == Swipe(start=Point(x=800, y=200), end=Point(x=200, y=800))


def test_code_is_never_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("code was run")

    monkeypatch.setattr("builtins.eval", refuse)
    monkeypatch.setattr("builtins.exec", refuse)
    parsed = get_dialect("opencua").parse(code("pyautogui.click(x=112, y=56)"), ScreenSize(width=1008, height=1008))
    assert isinstance(parsed, ParsedReply)


@pytest.mark.parametrize("name", ["ui_tars_2"])
@pytest.mark.parametrize(
    "text", ["</parameter></function>", "&lt;/parameter>", "&amp;lt;/function", "a\n", "\n", "\n\n"]
)
def test_tags_in_a_value_are_no_tags(name: str, text: str) -> None:
    dialect = get_dialect(name)
    parsed = dialect.parse(dialect.write("", TypeText(text=text), SQUARE), SQUARE)
    assert isinstance(parsed, ParsedReply)
    assert parsed.action == TypeText(text=text)
