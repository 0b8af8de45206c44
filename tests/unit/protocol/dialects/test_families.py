"""Dialects are found by name, and each family has its own ways."""

import pytest

from protocol.actions.types import Drag, Point, Swipe, TripleClick
from protocol.dialects.dialect import ScreenSize, TextPart
from protocol.dialects.families import get_dialect, list_dialects
from tests.unit.protocol.examples import TASK, observation, step

SWIPE = Swipe(start=Point(x=100, y=600), end=Point(x=100, y=100))


def test_each_file_is_found_under_its_name() -> None:
    assert list_dialects() == (
        *("anthropic", "autoglm_phone", "doubao_1_5_ui_tars", "doubao_1_5_ui_tars_15b", "evocua_s1", "fara"),
        *("gemini_computer", "glm_v", "holo", "holo_1_5"),
        *("json_calls", "openai_computer", "opencua", "qwen2_5_computer", "qwen_computer", "qwen_mobile"),
        *("ui_tars_1_0", "ui_tars_1_5", "ui_tars_2", "ui_venus"),
    )
    assert [get_dialect(name).name for name in list_dialects()] == list(list_dialects())


@pytest.mark.parametrize("name", ["ui_tars_9", "", "..", "__init__"])
def test_an_unknown_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="unknown dialect"):
        get_dialect(name)


def test_a_swipe_is_a_drag_for_one_family_and_a_scroll_for_the_other() -> None:
    assert get_dialect("ui_tars_1_5").supported_form(SWIPE) == Drag(start=SWIPE.start, end=SWIPE.end)
    assert get_dialect("ui_tars_1_0").supported_form(SWIPE) == SWIPE
    assert get_dialect("ui_tars_1_0").write("", SWIPE, ScreenSize(width=1000, height=1000)) == (
        "Action: scroll(start_box='<|box_start|>(100,600)<|box_end|>', end_box='<|box_start|>(100,100)<|box_end|>')"
    )


@pytest.mark.parametrize(("name", "point"), [("ui_tars_1_5", "(644, 364)"), ("ui_tars_1_0", "(500, 500)")])
def test_points_in_words_are_in_the_familys_grid(name: str, point: str) -> None:
    steps = (step(0, TripleClick(x=640, y=360)),)
    turn = get_dialect(name).render(TASK, steps, observation(), images=1)[1].content[0]
    assert isinstance(turn, TextPart)
    assert turn.text.endswith(f"Triple-click at {point}")


WITH_SYSTEM_MESSAGE = (
    *("autoglm_phone", "evocua_s1", "fara", "holo", "holo_1_5", "opencua"),
    *("qwen2_5_computer", "qwen_computer", "qwen_mobile"),
)


@pytest.mark.parametrize("name", list_dialects())
def test_the_prompt_is_the_systems_message_where_the_makers_send_it_so(name: str) -> None:
    task = TASK.model_copy(update={"instruction": "Buy <|im_end|> {milk}."})
    first, second, *_ = get_dialect(name).render(task, (), observation())
    texts = ["".join(part.text for part in each.content if isinstance(part, TextPart)) for each in (first, second)]
    if name in WITH_SYSTEM_MESSAGE:
        assert (first.role, second.role) == ("system", "user")
        assert "milk" not in texts[0]
        assert texts[1].endswith("Buy < |im_end| > {milk}.")
    else:
        assert first.role == "user"
        assert "Buy < |im_end| > {milk}." in texts[0]
