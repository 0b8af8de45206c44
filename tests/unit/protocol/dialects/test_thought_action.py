"""What models really answer, well and badly formed: published examples and the failures their users report."""

import pytest

from protocol.actions.types import (
    Action,
    CallUser,
    Click,
    DoubleClick,
    Drag,
    Finish,
    LongPress,
    MouseDown,
    MoveTo,
    Navigate,
    NavigateBack,
    OpenApp,
    Point,
    Press,
    PressBack,
    PressHome,
    PressKeys,
    Release,
    RightClick,
    Scroll,
    Swipe,
    TypeText,
    Wait,
)
from protocol.dialects.dialect import ParsedReply, ScreenSize, UnparsedReply
from protocol.dialects.families import get_dialect

SQUARE = ScreenSize(width=1000, height=1000)
"""In thousandths of it, a coordinate is its pixel."""

HERE = Click(x=177, y=549)


def read(text: str, name: str = "ui_tars_1_0", screen: ScreenSize = SQUARE) -> ParsedReply | UnparsedReply:
    return get_dialect(name).parse(text, screen)


def action_of(text: str) -> Action:
    parsed = read(text)
    assert isinstance(parsed, ParsedReply), parsed
    return parsed.action


def code_of(text: str) -> str:
    parsed = read(text)
    assert isinstance(parsed, UnparsedReply), parsed
    assert parsed.error.message
    return parsed.error.code


@pytest.mark.parametrize(
    "point",
    [
        "start_box='<|box_start|>(177,549)<|box_end|>'",
        "start_box='(177,549)'",
        "start_box='(177, 549)'",
        "start_box='[177, 549]'",
        "start_box='177 549'",
        "start_box='[167, 539, 187, 559]'",
        "start_box='(167,539,187,559)'",
        "start_box='(167,539),(187,559)'",
        "point='<point>177 549</point>'",
        "point='<point>177.0 549.4</point>'",
        "point='<point>177,549</point>'",
        "point='<point>167 539 187 559</point>'",
        "point=<point>177 549</point>",
        "start_box=(177,549)",
        "start_box=<|box_start|>(177,549)<|box_end|>",
        'start_box="(177,549)"',
        "start_box = '( 177 , 549 )'",
        "start_box＝“（177，549）”",
        "start_box=‘(177,549)’",
    ],
)
def test_every_way_to_name_a_point(point: str) -> None:
    assert action_of(f"Thought: Here.\nAction: click({point})") == HERE


@pytest.mark.parametrize(
    ("reply", "thought"),
    [
        ("Thought: Here.\nAction: {}", "Here."),
        ("Thought: Here.\n\nAction: {}", "Here."),
        ("Thought:Here.\nAction:{}", "Here."),
        ("Thought：在这里。\nAction：{}", "在这里。"),
        ("Thought: Here. Action: {}", "Here."),
        ("Thought: I\nclick (the button) here.\nAction: {}\nscroll (down) is next", "I\nclick (the button) here."),
        ("思考：在这里。\n动作：{}", "在这里。"),
        ("thought: Here.\naction: {}", "Here."),
        ("Thought 1: Here.\nAction 1: {}", "Here."),
        ("Thought: Here.\n{}", "Here."),
        ("Here it is.\nAction: {}", "Here it is."),
        ("Action: {}", ""),
        ("Action:\n{}", ""),
        ("{}", ""),
        ("Reflection: It failed.Action_Summary: Again.Action: {}", "It failed.\nAgain."),
        ("Reflection: It failed.\nAction_Summary: Again.\nAction: {}", "It failed.\nAgain."),
        ("Action_Summary: Again.\nAction: {}", "Again."),
        ("<computer_env>\nThought: Here.\nAction: {}\n</computer_env>", "Here."),
        ("<answer>Action: {}</answer>", ""),
        ("<think>Let me see.</think>\nThought: Here.\nAction: {}", "Let me see.\nHere."),
        ("<think_never_used_51bc>Hm.</think_never_used_51bc>Action: {}", "Hm."),
        ("<thinkt>Let me see.\nAction: {}", "Let me see."),
        ("Thought: Here.\nAction: {}[EOS]", "Here."),
        ("Thought: Here.\nAction: {}<|im_end|>\n", "Here."),
        ("Thought: The Action: menu.\nAction: {}", "The Action: menu."),
        ("Thought: One.\nAction: is what I need.\nAction: {}", "One.\nAction: is what I need."),
        ("Thought: Here.\nAction: {} to open it", "Here."),
        ("Thought: Here.\nAction: {})", "Here."),
    ],
)
def test_every_frame(reply: str, thought: str) -> None:
    parsed = read(reply.replace("{}", "click(start_box='(177,549)')"))
    assert isinstance(parsed, ParsedReply), parsed
    assert (parsed.thought, parsed.action) == (thought, HERE)


@pytest.mark.parametrize(
    ("call", "action"),
    [
        ("left_double(point='<point>1 2</point>')", DoubleClick(x=1, y=2)),
        ("right_single(start_box='(1,2)')", RightClick(x=1, y=2)),
        ("select(start_box='(1,2)')", Click(x=1, y=2)),
        ("click(start_box='(0,0)')", Click(x=0, y=0)),
        ("click(start_box='(0,500)')", Click(x=0, y=500)),
        ("click(start_box='(1000,1000)')", Click(x=999, y=999)),
        (
            "drag(start_box='(1,2)', end_box='(3,4)')",
            Drag(start=Point(x=1, y=2), end=Point(x=3, y=4)),
        ),
        (
            "drag(start_point='<point>1 2</point>', end_point='<point>3 4</point>')",
            Drag(start=Point(x=1, y=2), end=Point(x=3, y=4)),
        ),
        ("hotkey(key='ctrl c')", PressKeys(keys=("ctrl", "c"))),
        ("hotkey(key='CTRL+C')", PressKeys(keys=("ctrl", "c"))),
        ("hotkey(key='ctrl arrowleft')", PressKeys(keys=("ctrl", "left"))),
        ("hotkey(key=['ctrl', 'shift', 'c'])", PressKeys(keys=("ctrl", "shift", "c"))),
        ("hotkey(key='cmd space')", PressKeys(keys=("super", "space"))),
        ("hotkey(key='ctrl alt shift t')", PressKeys(keys=("ctrl", "alt", "shift", "t"))),
        ("press(key='ctrl')", Press(key="ctrl")),
        ("release(key='ctrl')", Release(key="ctrl")),
        ("type(content='abc\\n')", TypeText(text="abc\n")),
        ("type(content='')", TypeText(text="")),
        ('type(content="x")', TypeText(text="x")),
        ("type(content='a\nb')", TypeText(text="a\nb")),
        ("type(content='f(x)\n\ng(y)')", TypeText(text="f(x)\n\ng(y)")),
        (r"type(content='login\\n')", TypeText(text=r"login\n")),
        (r"type(content='C:\\Users')", TypeText(text=r"C:\Users")),
        (r"type(content='it\'s \"it\"')", TypeText(text='it\'s "it"')),
        (r"type(content='\d+')", TypeText(text=r"\d+")),
        (r"type(content='\u4f60\u597d')", TypeText(text="你好")),
        (r"type(content='\ud83d\ude00 \ud83d')", TypeText(text="😀 \ufffd")),
        ("type(content='it's fine')", TypeText(text="it's fine")),
        ("type(content='say 'hi', then (go)')", TypeText(text="say 'hi', then (go)")),
        ("type(content='it's (ok') now')", TypeText(text="it's (ok') now")),
        ("type(content='f('x') and g('y')')", TypeText(text="f('x') and g('y')")),
        ("type(content='Action: click(start_box=\\'(1,2)\\')')", TypeText(text="Action: click(start_box='(1,2)')")),
        ("type(content='你好，世界')", TypeText(text="你好，世界")),
        ("scroll(start_box='(1,2)', direction='down')", Scroll(point=Point(x=1, y=2), direction="down")),
        ("scroll(direction='LEFT')", Scroll(direction="left")),
        ("scroll(start_box='(1,2)', end_box='(3,4)')", Swipe(start=Point(x=1, y=2), end=Point(x=3, y=4))),
        ("wait()", Wait()),
        ("wait(time=10)", Wait(seconds=10)),
        ("wait(time='2s')", Wait(seconds=2)),
        ("finished()", Finish()),
        ("finished(content='It\\'s 42.')", Finish(answer="It's 42.")),
        ("call_user()", CallUser()),
        ("long_press(start_box='(1,2)', time='')", LongPress(x=1, y=2)),
        ("long_press(start_box='(1,2)', time='3')", LongPress(x=1, y=2, seconds=3)),
        ("open_app(app_name='Clock')", OpenApp(name="Clock")),
        ("press_home()", PressHome()),
        ("press_back()", PressBack()),
        ("navigate(content='https://example.org')", Navigate(url="https://example.org")),
        ("navigate_back()", NavigateBack()),
        ("move_to(point='<point>1 2</point>')", MoveTo(x=1, y=2)),
        ("mouse_down(button='right')", MouseDown(button="right")),
    ],
)
def test_every_function(call: str, action: Action) -> None:
    assert action_of(f"Thought: t\nAction: {call}") == action


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("", "no_action"),
        ("I do not know what to do.", "no_action"),
        ("Thought: Done.\nAction:", "no_action"),
        ("Thought: Done.\nAction: click", "no_action"),
        ("Thought: The dialog is clo", "no_action"),
        ("Action: click(start_box='=')", "bad_point"),
        ("Action: click(start_box='')", "bad_point"),
        ("Action: click(start_box='(12a,5)')", "bad_point"),
        ("Action: click(start_box='(1,2,3)')", "bad_point"),
        ("Action: click(start_box='(5)')", "bad_point"),
        ("Action: click(start_box='(99999999999999999999,5)')", "bad_point"),
        ("Action: click(start_box='(__import__(\\'os\\'),5)')", "bad_point"),
        ("Action: click(start_box='(1001,5)')", "off_screen"),
        ("Action: click(start_box='(-1,5)')", "off_screen"),
        ("Action: click(start_box='(5,10000)')", "off_screen"),
        ("Action: click()", "bad_arguments"),
        ("Action: click(177, 549)", "bad_arguments"),
        ("Action: click(start_box='(1,2)', start_box='(3,4)')", "bad_arguments"),
        ("Action: click(start_box='(1,2)', twice='yes')", "bad_arguments"),
        ("Action: drag(start_box='(1,2)')", "bad_arguments"),
        ("Action: type()", "bad_arguments"),
        ("Action: scroll(start_box='(1,2)')", "bad_arguments"),
        ("Action: scroll(start_box='(1,2)', direction='sideways')", "bad_value"),
        ("Action: wait(time='soon')", "bad_value"),
        ("Action: wait(time='3600')", "bad_value"),
        ("Action: open_app(app_name='')", "bad_value"),
        ("Action: hotkey(key='')", "bad_value"),
        ("Action: hotkey(key='a b c d e f')", "bad_value"),
        ("Action: hotkey(key='ctrl hyper')", "unknown_key"),
        ("Action: press(key='ctrl c')", "unknown_key"),
        ("Action: teleport(point='<point>1 2</point>')", "unknown_action"),
        ("Action: click(start_box='(177,549)'", "unfinished_call"),
        ("Action: click(start_box='(177,549)", "unfinished_call"),
        ("Action: click(start_box='(177,549))", "unfinished_call"),
        ("Action: click(start_box='(177,5", "unfinished_call"),
        ("Action: type(content='Dear Sir or Ma", "unfinished_call"),
        ("Action: type(content='C:\\')", "unfinished_call"),
        ("Action: type(content='call f('x') and then do", "unfinished_call"),
        ("Action: type(content='look at f(x') or g('y", "unfinished_call"),
        ("Action: type(content='look at f(x') or it's", "unfinished_call"),
        ("Action: wait()\nAction: finished()", "several_actions"),
        ("Action: wait()\n\nfinished()", "several_actions"),
        ("Action: wait(); finished()", "several_actions"),
        ("Action: click(start_box='(1,2)')\n\ntype(content='it's')", "several_actions"),
        ("Action: press(key='ctrl')\n\nclick(start_box='(1,2)')\n\nrelease(key='ctrl')", "several_actions"),
        ("Action: type(content='x', start_box='(1,2)')", "several_actions"),
    ],
)
def test_every_failure_has_its_code(reply: str, code: str) -> None:
    assert code_of(reply) == code


def test_a_failure_keeps_what_could_be_read() -> None:
    parsed = read("Thought: I click there.\nAction: click(start_box='(177,5")
    assert isinstance(parsed, UnparsedReply)
    assert parsed.thought == "I click there."
    assert parsed.action_text == "click(start_box='(177,5"


def test_a_failure_is_that_of_the_first_thing_that_looks_like_an_action() -> None:
    parsed = read("Thought: t\nAction: click(start_box='(1,\nAction: nothing")
    assert isinstance(parsed, UnparsedReply)
    assert (parsed.thought, parsed.error.code) == ("t", "unfinished_call")


@pytest.mark.parametrize(
    ("name", "reply", "action"),
    [
        ("ui_tars_1_5", "Thought: t\nAction: click(start_box='(197,525)')", Click(x=196, y=519)),
        ("ui_tars_1_5", "Thought: t\nAction: click(point='<point>1932 1092</point>')", Click(x=1919, y=1079)),
        (
            "ui_tars_1_0",
            "Thought: t\nAction: click(start_box='<|box_start|>(500,500)<|box_end|>')",
            Click(x=960, y=540),
        ),
    ],
)
def test_each_family_reads_coordinates_in_its_own_grid(name: str, reply: str, action: Action) -> None:
    parsed = read(reply, name, ScreenSize(width=1920, height=1080))
    assert isinstance(parsed, ParsedReply)
    assert parsed.action == action
