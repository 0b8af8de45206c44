"""AgentNet's code as people's recorders write it."""

import pytest

from protocol.actions.inputs import PressKeys
from protocol.actions.types import (
    Action,
    Click,
    Drag,
    DragPath,
    Infeasible,
    MouseClick,
    Point,
    Screenshot,
    Scroll,
    ScrollBy,
    TripleClick,
    Zoom,
    action_points,
)
from protocol.dialects.dialect import ScreenSize
from protocol.formats.agentnet import step_code
from protocol.formats.agentnet_code import parse_actions
from protocol.formats.records import RowError
from tests.unit.protocol.examples import step

SCREEN = ScreenSize(width=1920, height=1080)


def read(code: str, pointer: Point | None = None) -> list[Action]:
    return list(parse_actions(code, SCREEN, pointer))


@pytest.mark.parametrize(
    "code",
    [
        "pyautogui.click(x=0.5, y=0.5)",
        "pyautogui.click(0.5, 0.5)",
        "pyautogui.click(0.5, y=0.5)",
        "pyautogui.click((0.5, 0.5))",
        "import pyautogui\nimport time\npyautogui.click(0.5, 0.5, 1, 0.0, 'left')",
        "pyautogui.moveTo(0.5, 0.5)\npyautogui.click()",
    ],
)
def test_a_click_is_at_a_share_of_the_screen(code: str) -> None:
    assert read(code) == [Click(x=960, y=540)]


@pytest.mark.parametrize(
    ("code", "kind", "x", "y"),
    [
        ("computer.tripleClick(x=0.1,y=0.2)", "triple_click", 192, 216),
        ("computer.triple_click(0.1, 0.2)", "triple_click", 192, 216),
        ("pyautogui.doubleClick(0.1, 0.2)", "double_click", 192, 216),
        ("pyautogui.rightClick(0.1, 0.2)", "right_click", 192, 216),
        ("pyautogui.click(0.1, 0.2, button='right')", "right_click", 192, 216),
        ("pyautogui.click(0.1, 0.2, 2)", "double_click", 192, 216),
        ("pyautogui.moveTo(0.1, 0.2, 0.5)", "move_to", 192, 216),
        ("pyautogui.mouseDown(0.1, 0.2)", "mouse_down", 192, 216),
        ("mobile.long_press(0.1, 0.2)", "long_press", 192, 216),
    ],
)
def test_every_function_of_a_place_takes_it_by_position(code: str, kind: str, x: int, y: int) -> None:
    (action,) = read(code)
    assert (action.kind, list(action_points(action))) == (kind, [Point(x=x, y=y)])


@pytest.mark.parametrize(
    ("code", "scroll"),
    [
        ("pyautogui.scroll(-250)", Scroll(direction="down", amount=100)),
        ("pyautogui.scroll(10**0)", None),
        ("pyautogui.scroll(+3)", Scroll(direction="up", amount=3)),
        ("pyautogui.scroll(-0.3)", Scroll(direction="down", amount=1)),
        ("pyautogui.scroll(clicks=-7.0)", Scroll(direction="down", amount=7)),
        ("pyautogui.scroll(clicks=-7, x=0.5, y=0.5)", Scroll(direction="down", amount=7, point=Point(x=960, y=540))),
        ("pyautogui.hscroll(5, 0.5, 0.5)", Scroll(direction="right", amount=5, point=Point(x=960, y=540))),
        (
            "pyautogui.moveTo(x=0.4496, y=0.7349)\npyautogui.scroll(-54)",
            Scroll(direction="down", amount=54, point=Point(x=863, y=794)),
        ),
    ],
)
def test_any_amount_is_scrolled(code: str, scroll: Scroll | None) -> None:
    if scroll is None:
        with pytest.raises(RowError):
            read(code)
    else:
        assert read(code) == [scroll]


def test_a_scroll_of_nothing_is_no_act() -> None:
    assert read("pyautogui.scroll(0)") == []
    assert read("pyautogui.scroll(0)\npyautogui.click(0.5, 0.5)") == [Click(x=960, y=540)]


@pytest.mark.parametrize(
    ("code", "keys"),
    [
        ("pyautogui.press(keys=['tab', 'tab'])", ["Tab", "Tab"]),
        ("pyautogui.press('tab', presses=3)", ["Tab"] * 3),
        ("pyautogui.press(['down', 'enter'], 2, interval=0.1)", ["Down", "Enter"] * 2),
        ("pyautogui.press('a')", ["a"]),
    ],
)
def test_repeated_keys_are_acts_of_their_own(code: str, keys: list[str]) -> None:
    actions = read(code)
    assert all(isinstance(action, PressKeys) and len(action.keys) == 1 for action in actions)
    assert [action.keys[0].lower() for action in actions if isinstance(action, PressKeys)] == [
        key.lower() for key in keys
    ]


def test_a_drag_begins_where_the_pointer_is() -> None:
    drag = Drag(start=Point(x=384, y=324), end=Point(x=768, y=540))
    assert read("pyautogui.moveTo(0.2,0.3)\npyautogui.dragTo(0.4,0.5)") == [drag]
    assert read("pyautogui.dragTo(0.4, 0.5, 1.5, button='left')", Point(x=384, y=324)) == [drag]
    assert read("pyautogui.click(0.2, 0.3)\npyautogui.dragTo(0.4, 0.5)")[1:] == [drag]
    assert read("pyautogui.moveTo(0.2, 0.3)\ntime.sleep(1)\npyautogui.dragTo(0.4, 0.5)")[2:] == [drag]
    right = read("pyautogui.dragTo(0.4, 0.5, 1, pyautogui.easeInQuad, 'right')", Point(x=1, y=2))
    assert right == [Drag(start=Point(x=1, y=2), end=Point(x=768, y=540), button="right")]
    (unknown,) = read("pyautogui.dragTo(0.4, 0.5)")
    assert isinstance(unknown, DragPath), "no act before says where that is"
    assert len(unknown.points) == 1


def test_a_click_without_a_place_is_where_the_pointer_is() -> None:
    for x in (0, 1, 7, 863, 1919):
        assert read("pyautogui.tripleClick()", Point(x=x, y=794)) == [TripleClick(x=x, y=794)]
    assert read("pyautogui.click()") == [MouseClick()], "nobody knows where that was"


@pytest.mark.parametrize(
    "code",
    [
        "",
        "# a comment",
        "import os",
        "x = 5",
        "pyautogui.click(0.5, 0.5",
        "pyautogui.click(1e999, 0.5)",
        f"pyautogui.click({'9' * 400}, 0.5)",
        "pyautogui.click(2.0, 0.5)",
        "pyautogui.click(-0.1, 0.5)",
        "pyautogui.click(x, y)",
        "pyautogui.scroll(-True)",
        "pyautogui.scroll(1e999)",
        "pyautogui.press('a', presses=10**9)",
        "pyautogui.press('a', presses=1000000000)",
        "pyautogui.press([])",
        "pyautogui.press()",
        "os.remove('/')",
        "pyautogui.click(__import__('os').system('id'))",
        "(" * 5_000,
        "a" + ".a" * 50_000,
        "pyautogui.write('\\ud800')\0",
    ],
)
def test_what_is_no_act_is_refused_and_nothing_else(code: str) -> None:
    with pytest.raises(RowError) as refused:
        read(code)
    assert refused.value.code == "code_unreadable"


@pytest.mark.parametrize(
    "action",
    [
        MouseClick(point=Point(x=12, y=34), keys=("ctrl", "shift")),
        MouseClick(button="back"),
        MouseClick(button="right", clicks=2),
        DragPath(points=(Point(x=1, y=2), Point(x=30, y=40), Point(x=500, y=6)), keys=("alt",)),
        DragPath(points=(Point(x=1, y=2), Point(x=30, y=40), Point(x=500, y=6))),
        DragPath(points=(Point(x=1, y=2), Point(x=30, y=40)), keys=("alt",)),
        DragPath(points=(Point(x=7, y=8),), button="right"),
        ScrollBy(point=Point(x=640, y=360), dx=-20, dy=375),
        ScrollBy(dy=-3, unit="notches", keys=("ctrl",)),
        Zoom(start=Point(x=100, y=50), end=Point(x=420, y=230)),
        Screenshot(),
        Infeasible(reason="There is none."),
    ],
    ids=lambda action: action.kind,
)
def test_what_the_export_writes_is_read_as_one_act(action: Action) -> None:
    made = step(0, action)
    assert list(parse_actions(step_code(made), ScreenSize.of(made.before), None)) == [action]
