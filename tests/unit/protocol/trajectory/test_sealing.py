"""What is written of a sealed task: its words and answers are encrypted wherever they stand, and come back."""

import json

import pytest
from pydantic import JsonValue

from protocol.trajectory.sealing import (
    HIDDEN_INSTRUCTION,
    InvalidSeal,
    Seal,
    unseal_trajectory,
    without_sealed_text,
)
from protocol.trajectory.tasks import Task

SEAL = {"password": "own"}
TASK = Task(
    id="q/1",
    instruction="Find it.\n\nWhich bird nests on the third pillar of the bridge at Quarrymouth?",
    parameters={"sealed": SEAL, "reference_answer": "Grey wagtail", "site_task": {"kept": True}},
)
CHINESE = Task(
    id="q/2",
    instruction="虚构的石桥镇第三根桥墩上筑巢的是什么鸟？",
    parameters={"sealed": SEAL, "reference_answer": "灰鹡鸰"},
)


def sealed(text: str, task: Task = TASK) -> JsonValue:
    return Seal(password="own").seal(text, task)


@pytest.mark.parametrize(
    "text",
    [
        TASK.instruction,
        "I search: which BIRD nests on the third  pillar of it",
        "The answer is grey wagtail.",
        "Grey wagtail",
    ],
)
def test_texts_that_give_a_task_away_are_encrypted(text: str) -> None:
    hidden = sealed(text)
    assert isinstance(hidden, str)
    assert hidden.startswith("sealed:")
    assert Seal(password="own").unseal(hidden) == text


@pytest.mark.parametrize("text", ["I open the search page.", "a bird", "wagtails are grey", "2026-01-02T03:04:05Z", ""])
def test_other_texts_stay(text: str) -> None:
    assert sealed(text) == text


def test_chinese_is_found_without_spaces() -> None:
    assert sealed("我先找第三根桥墩上筑巢的是哪一座", CHINESE) != "我先找第三根桥墩上筑巢的是哪一座"
    assert sealed("可能是灰鹡鸰吧", CHINESE) != "可能是灰鹡鸰吧"
    assert sealed("打开网页", CHINESE) == "打开网页"


def test_a_short_answer_hides_no_number_that_has_it() -> None:
    task = TASK.model_copy(update={"parameters": {"sealed": SEAL, "reference_answer": "42"}})
    assert sealed("x is 42 pixels", task) == "x is 42 pixels"
    assert sealed("42", task) != "42"


def test_checksums_and_times_stay_whatever_the_answer() -> None:
    task = TASK.model_copy(update={"parameters": {"sealed": SEAL, "reference_answer": "2026"}})
    for text in ("2026-01-02T03:04:05.123456Z", "ab" * 32):
        assert sealed(text, task) == text
    assert sealed("It was in 2026.", task) != "It was in 2026."


def test_a_trajectory_comes_back_as_it_was() -> None:
    whole: JsonValue = {
        "task": TASK.model_dump(mode="json"),
        "steps": [{"thought": TASK.instruction}],
        "answer": "Grey wagtail",
    }
    hidden = Seal(password="own").seal(whole, TASK)
    assert b"Quarrymouth" not in json.dumps(hidden).encode()
    assert unseal_trajectory(hidden) == whole


def test_another_password_is_refused() -> None:
    with pytest.raises(InvalidSeal):
        Seal(password="other").unseal(Seal(password="own").seal(CHINESE.instruction, CHINESE))


def test_a_machine_gets_no_words_of_a_sealed_task() -> None:
    bare = without_sealed_text(TASK)
    assert bare.instruction == HIDDEN_INSTRUCTION
    assert bare.parameters == {"site_task": {"kept": True}}
    open_task = TASK.model_copy(update={"parameters": {}})
    assert without_sealed_text(open_task) is open_task
