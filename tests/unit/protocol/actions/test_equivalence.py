"""When two actions mean the same, and how an action is put in words."""

import pytest
from hypothesis import given
from pydantic import ValidationError

from protocol.actions.descriptions import describe_action
from protocol.actions.equivalence import equivalent
from protocol.actions.inputs import scroll_notches, simplify_action
from protocol.actions.types import (
    Action,
    CallTool,
    Click,
    DoubleClick,
    Drag,
    DragPath,
    Finish,
    MouseClick,
    MouseDown,
    Point,
    PressKeys,
    RightClick,
    Scroll,
    ScrollBy,
    TypeText,
    Zoom,
)
from protocol.blobs import BlobRef
from protocol.trajectory.export_folders import trajectory_files, trajectory_images
from tests.unit.protocol.examples import ACTIONS, observation, step, trajectory
from tests.unit.protocol.strategies import any_action

A, NEAR, FAR = Point(x=100, y=100), Point(x=105, y=95), Point(x=106, y=100)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Click(x=100, y=100), Click(x=105, y=95)),
        (Drag(start=A, end=FAR), Drag(start=NEAR, end=FAR)),
        (Scroll(point=A, direction="down"), Scroll(point=NEAR, direction="down")),
        (PressKeys(keys=("Control", "c")), PressKeys(keys=("ctrl", "C"))),
        (MouseDown(), MouseDown()),
    ],
)
def test_alike(one: Action, other: Action) -> None:
    assert equivalent(one, other)
    assert equivalent(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Click(x=100, y=100), Click(x=106, y=100)),
        (Click(x=100, y=100), Click(x=100, y=94)),
        (Click(x=100, y=100), DoubleClick(x=100, y=100)),
        (Drag(start=A, end=A), Drag(start=A, end=FAR)),
        (Drag(start=A, end=NEAR), Drag(start=A, end=NEAR, button="right")),
        (Scroll(point=A, direction="down"), Scroll(point=A, direction="up")),
        (Scroll(point=A, direction="down"), Scroll(direction="down")),
        (MouseDown(point=A), MouseDown()),
        (TypeText(text="a"), TypeText(text="a\n")),
        (PressKeys(keys=("ctrl", "c")), PressKeys(keys=("c", "ctrl"))),
        (CallTool(name="t", arguments={"x": 1}), CallTool(name="t", arguments={"x": 2})),
    ],
)
def test_different(one: Action, other: Action) -> None:
    assert not equivalent(one, other)
    assert not equivalent(other, one)


def test_the_tolerance_is_the_callers() -> None:
    assert not equivalent(Click(x=1, y=1), Click(x=2, y=1), tolerance=0)
    assert equivalent(Click(x=1, y=1), Click(x=24, y=1), tolerance=24)


@given(any_action())
def test_every_action_means_itself(action: Action) -> None:
    assert equivalent(action, action, tolerance=0)


@pytest.mark.parametrize(
    ("action", "english", "chinese"),
    [
        (RightClick(x=512, y=388), "Right-click at (512, 388)", "右键单击 (512, 388)"),
        (
            Drag(start=Point(x=1, y=2), end=Point(x=3, y=4)),
            "Drag from (1, 2) to (3, 4)",
            "从 (1, 2) 拖动到 (3, 4)",
        ),
        (
            Drag(start=Point(x=1, y=2), end=Point(x=3, y=4), button="right"),
            "Drag with the right button from (1, 2) to (3, 4)",
            "用右键从 (1, 2) 拖动到 (3, 4)",
        ),
        (Scroll(direction="down", amount=3), "Scroll down by 3", "向下滚动 3 格"),
        (
            Scroll(point=Point(x=1, y=2), direction="left"),
            "Scroll left by 5 at (1, 2)",
            "向左滚动 5 格（(1, 2)）",
        ),
        (TypeText(text="a\nb"), "Type “a⏎b”", "输入“a⏎b”"),
        (TypeText(text="x" * 100), f"Type “{'x' * 79}…”", f"输入“{'x' * 79}…”"),
        (PressKeys(keys=("ctrl", "c")), "Press ctrl + c", "按下 ctrl + c"),
        (Finish(), "Finish", "完成任务"),
        (Finish(answer="42"), "Finish: “42”", "完成任务：“42”"),
    ],
)
def test_in_words(action: Action, english: str, chinese: str) -> None:
    assert describe_action(action) == english
    assert describe_action(action, "zh") == chinese


@given(any_action())
def test_every_action_has_words_whatever_it_holds(action: Action) -> None:
    assert describe_action(action, "en")
    assert describe_action(action, "zh")


def test_every_kind_has_words_of_its_own() -> None:
    assert len({describe_action(action) for action in ACTIONS}) == len(ACTIONS)
    assert len({describe_action(action, "zh") for action in ACTIONS}) == len(ACTIONS)


def test_points_are_named_as_the_caller_likes() -> None:
    assert describe_action(Click(x=1, y=2), point=lambda p: f"{p.x}:{p.y}") == "Click at 1:2"


def test_a_zoomed_part_is_a_picture_of_the_attempt_and_no_file() -> None:
    part = BlobRef.of(b"part", "image/png")
    seen = observation("screen-1").model_copy(update={"attachment": part})
    zoom = Zoom(start=Point(x=1, y=2), end=Point(x=30, y=40))
    attempt = trajectory(steps=(step(0, zoom, after=seen), step(1, Click(x=1, y=1), after=seen)))
    assert part in trajectory_images(attempt)
    assert trajectory_files(attempt) == ()


@pytest.mark.parametrize(
    ("general", "simple"),
    [
        (MouseClick(point=Point(x=1, y=2), clicks=2), DoubleClick(x=1, y=2)),
        (MouseClick(point=Point(x=1, y=2), button="right"), RightClick(x=1, y=2)),
        (DragPath(points=(Point(x=1, y=2), Point(x=3, y=4))), Drag(start=Point(x=1, y=2), end=Point(x=3, y=4))),
        (ScrollBy(dy=-3, unit="notches"), Scroll(direction="up", amount=3)),
        (ScrollBy(dx=2, unit="notches"), Scroll(direction="right", amount=2)),
    ],
)
def test_what_a_plain_action_says_too_means_the_same(general: Action, simple: Action) -> None:
    assert simplify_action(general) == simple
    assert equivalent(general, simple)


@pytest.mark.parametrize(
    "action",
    [
        MouseClick(),
        MouseClick(point=Point(x=1, y=2), keys=("ctrl",)),
        MouseClick(point=Point(x=1, y=2), button="back"),
        DragPath(points=(Point(x=1, y=2),)),
        ScrollBy(dy=300),
        ScrollBy(dx=1, dy=1, unit="notches"),
    ],
)
def test_what_no_plain_action_says_stays_as_it_is(action: Action) -> None:
    assert simplify_action(action) == action
    assert not equivalent(action, Click(x=1, y=2))


def test_a_wheel_of_notches_turns_at_least_once_for_pixels() -> None:
    assert scroll_notches(ScrollBy(dx=-20, dy=375)) == (-1, 4)
    assert scroll_notches(ScrollBy(dy=-20_000)) == (0, -100)
    with pytest.raises(ValidationError):
        ScrollBy()
