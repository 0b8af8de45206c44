"""Dialects are found by name, and each family has its own ways."""

import pytest

from tests.unit.vocabulary.examples import TASK, observation, step
from vocabulary.actions import Drag, Point, Swipe, TripleClick
from vocabulary.dialect import Screen, TextPart
from vocabulary.dialects import dialect_named, dialect_names

SWIPE = Swipe(start=Point(x=100, y=600), end=Point(x=100, y=100))


def test_each_file_is_found_under_its_name() -> None:
    assert dialect_names() == (
        *("doubao_1_5_ui_tars", "doubao_1_5_ui_tars_15b", "json_calls", "opencua"),
        *("ui_tars_1_0", "ui_tars_1_5", "ui_tars_2"),
    )
    assert [dialect_named(name).name for name in dialect_names()] == list(dialect_names())


@pytest.mark.parametrize("name", ["ui_tars_9", "", "..", "__init__"])
def test_an_unknown_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="unknown dialect"):
        dialect_named(name)


def test_a_swipe_is_a_drag_for_one_family_and_a_scroll_for_the_other() -> None:
    assert dialect_named("ui_tars_1_5").sayable(SWIPE) == Drag(start=SWIPE.start, end=SWIPE.end)
    assert dialect_named("ui_tars_1_0").sayable(SWIPE) == SWIPE
    assert dialect_named("ui_tars_1_0").write("", SWIPE, Screen(width=1000, height=1000)) == (
        "Action: scroll(start_box='<|box_start|>(100,600)<|box_end|>', end_box='<|box_start|>(100,100)<|box_end|>')"
    )


@pytest.mark.parametrize(("name", "point"), [("ui_tars_1_5", "(644, 364)"), ("ui_tars_1_0", "(500, 500)")])
def test_points_in_words_are_in_the_familys_grid(name: str, point: str) -> None:
    steps = (step(0, TripleClick(x=640, y=360)),)
    turn = dialect_named(name).render(TASK, steps, observation(), images=1)[1].content[0]
    assert isinstance(turn, TextPart)
    assert turn.text.endswith(f"Triple-click at {point}")
