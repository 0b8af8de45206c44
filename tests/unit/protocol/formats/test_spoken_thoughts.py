"""Words become thoughts, and thoughts find their acts."""

import random
import re
from typing import Any

import pytest

from benchmarks.parts.recorder.thought_scripts import CLICK, DRAG, KEYS, SCROLL, TYPE, Script, write_script
from protocol.actions.types import ACTION_ADAPTER
from protocol.formats.recorded_acts import RecordedAct
from protocol.formats.spoken_thoughts import (
    Speech,
    SpokenWord,
    Thought,
    align_thoughts,
    describe_speech,
    find_role,
)
from protocol.trajectory.speech import join_words, step_thoughts

SECOND = 1_000_000_000
WORD_S = 0.33
ACTIONS: dict[str, dict[str, Any]] = {
    CLICK: {"kind": "click", "x": 1, "y": 1},
    TYPE: {"kind": "type_text"},
    SCROLL: {"kind": "scroll", "point": {"x": 1, "y": 1}, "direction": "down", "amount": 2},
    KEYS: {"kind": "press_keys", "keys": ["ctrl", "s"]},
    DRAG: {"kind": "drag", "start": {"x": 1, "y": 1}, "end": {"x": 9, "y": 9}},
}


def act(kind: str, begin: float, end: float, text: str = "") -> RecordedAct:
    action = ACTIONS[kind] | ({"text": text} if kind == TYPE else {})
    return RecordedAct(ACTION_ADAPTER.validate_python(action), int(begin * SECOND), int(end * SECOND), 0)


def words_of(text: str, begin: float) -> list[SpokenWord]:
    return [
        SpokenWord(
            t_ns=int((begin + place * WORD_S) * SECOND),
            end_ns=int((begin + (place + 0.9) * WORD_S) * SECOND),
            text=word,
        )
        for place, word in enumerate(text.split())
    ]


def acts_of(script: Script) -> list[RecordedAct]:
    return [act(one.kind, one.begin_s, one.end_s, one.text) for one in script.acts]


def test_thoughts_of_scripted_sessions_find_their_acts() -> None:
    hits = found = true = thoughts = 0
    for seed in range(100, 104):
        script = write_script(random.Random(seed), lambda text: len(text.split()) * WORD_S, 40)
        spoken = [words_of(one.text, one.begin_s) for one in script.thoughts]
        owners = [place for place, words in enumerate(spoken) for _ in words]
        aligned = align_thoughts([word for words in spoken for word in words], acts_of(script))
        pairs = {(owners[one.first_word], place) for one in aligned for place in one.acts}
        truth = {(place, about) for place, one in enumerate(script.thoughts) for about in one.acts}
        hits, found, true = hits + len(pairs & truth), found + len(pairs), true + len(truth)
        thoughts += len(script.thoughts)
    assert thoughts >= 100
    assert 2 * hits / (found + true) >= 0.95


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("Um, okay.", "filler"),
        ("嗯", "filler"),
        ("and", "filler"),
        ("Okay, then.", "filler"),
        ("Then the hotel.", "plan"),
        ("Okay, now I open the menu.", "plan"),
        ("I will check whether it is open", "plan"),
        ("The window is open", "evaluation"),
        ("Okay, that worked.", "evaluation"),
        ("打开了", "evaluation"),
        ("No wait, that is the wrong one", "correction"),
        ("不对，应该是第二个", "correction"),
        ("我先打开菜单。", "plan"),
        ("接下来点击 Save 按钮。", "plan"),
        ("好了，保存成功。", "evaluation"),
        ("呃，那个", "filler"),
        ("Now it shows the list", "evaluation"),
        ("Looks good", "evaluation"),
        ("Nothing happened", "evaluation"),
        ("Let me see the next page", "plan"),
        ("I looked for it, so I open the index", "plan"),
        ("I open the perfect list and press the fine print", "plan"),
        ("I need a good name, so I type Undone", "plan"),
        ("All good", "evaluation"),
        ("I am done", "evaluation"),
        ("This is perfect", "evaluation"),
    ],
)
def test_the_wording_says_what_a_thought_does(text: str, role: str) -> None:
    assert find_role(text) == role


def align(*spoken: tuple[str, float], acts: list[RecordedAct]) -> list[tuple[Any, ...]]:
    def short(one: Thought) -> tuple[Any, ...]:
        return one.role, one.relation, one.acts

    return [short(one) for one in align_thoughts([word for text, at in spoken for word in words_of(text, at)], acts)]


def test_sentences_without_a_pause_are_thoughts_of_their_own() -> None:
    acts = [act(CLICK, 1, 1.1), act(CLICK, 6, 6.1)]
    found = align(("That worked. Now I press save.", 2), acts=acts)
    assert found == [("evaluation", "after", (0,)), ("plan", "before", (1,))]


def test_an_enumeration_covers_a_click_into_a_field_and_typing_as_one_part() -> None:
    acts = [
        act(CLICK, 6, 6.1),
        act(TYPE, 7, 8, "Ann"),
        act(CLICK, 9, 9.1),
        act(TYPE, 10, 11, "Bonn"),
        act(CLICK, 14, 15),
    ]
    assert align(("I fill in the name and then the city", 1), acts=acts) == [("plan", "before", (0, 1, 2, 3))]


def test_an_enumeration_ends_before_what_is_described_while_it_is_done() -> None:
    acts = [act(CLICK, 6, 6.1), act(CLICK, 7, 7.1), act(TYPE, 9, 12, "Bonn")]
    spoken = (("I press the button and then I choose the city", 1), ("typing the name of it", 9.5))
    assert align(*spoken, acts=acts) == [("plan", "before", (0, 1)), ("plan", "during", (2,))]


def test_what_is_typed_while_it_is_said_is_what_is_meant() -> None:
    acts = [act(CLICK, 1, 1.1), act(TYPE, 2, 6, "hotel"), act(CLICK, 8, 8.1)]
    assert align(("Then hotel", 3), acts=acts) == [("plan", "during", (1,))]


@pytest.mark.parametrize("text", ["Let me open the menu", "That worked", "No, the other one"])
def test_speech_far_from_every_act_belongs_to_none(text: str) -> None:
    acts = [act(CLICK, 1, 1.1), act(CLICK, 60, 60.1)]
    assert [one[2] for one in align((text, 30), acts=acts)] == [()]


@pytest.mark.parametrize(
    ("text", "begin", "acts", "place"),
    [
        ("That worked.", 4, [act(TYPE, 3, 8, "Ann"), act(CLICK, 9, 9.1)], 1),
        ("Done.", 2, [act(CLICK, 2.2, 2.25), act(CLICK, 5, 5.1)], 1),
        ("That worked.", 2, [act(CLICK, 2.2, 2.25), act(CLICK, 5, 5.1)], 1),
        ("The form is open.", 1, [act(CLICK, 5, 5.1)], 0),
        ("I fill in the name and then the city", 1, [act(CLICK, 0.8, 0.9), act(CLICK, 5, 5.1)], 0),
    ],
)
def test_outcomes_stand_after_their_act_and_plans_at_their_first(
    text: str, begin: float, acts: list[RecordedAct], place: int
) -> None:
    words = words_of(text, begin)
    thoughts = align_thoughts(words, acts)
    record = describe_speech(Speech(engine="e", language="en", words=tuple(words)), thoughts, 0)
    assert list(step_thoughts(record.words, record.thoughts, len(acts))) == [
        text if one == place else "" for one in range(len(acts))
    ]


def test_empty_and_long_words_refuse_no_session() -> None:
    words = [{"t_ns": 1, "end_ns": 2, "text": text} for text in ("", " ", "x" * 900, "on")]
    speech = Speech.model_validate({"engine": "e", "language": "en", "words": words})
    assert [len(word.text) for word in speech.words] == [200, 2]


def test_chinese_is_joined_without_spaces() -> None:
    assert join_words(["点击", "保存", "按钮，", "然后", "OK", "go"]) == "点击保存按钮，然后 OK go"


def characters_of(text: str, begin: float) -> list[SpokenWord]:
    """Chinese as engines give it: a word for each character, with the punctuation after it; English words whole."""
    return [
        SpokenWord(
            t_ns=int((begin + place * 0.2) * SECOND), end_ns=int((begin + place * 0.2 + 0.18) * SECOND), text=one
        )
        for place, one in enumerate(re.findall(r"[A-Za-z]+|[\u4e00-\u9fff][，。！？、]?", text))
    ]


def align_chinese(*spoken: tuple[str, float], acts: list[RecordedAct]) -> list[tuple[Any, ...]]:
    words = [word for text, at in spoken for word in characters_of(text, at)]
    return [(one.text, one.role, one.relation, one.acts) for one in align_thoughts(words, acts)]


def test_chinese_thoughts_find_their_acts() -> None:
    acts = [
        act(CLICK, 3, 3.1),
        act(CLICK, 10, 10.1),
        act(TYPE, 11, 12, "李雷"),
        act(CLICK, 14, 14.1),
        act(CLICK, 20, 20.1),
        act(KEYS, 24, 24.1),
    ]
    found = align_chinese(
        ("我先打开菜单。打开了。", 1.5),
        ("然后输入名字，再选择城市。", 6),
        ("不对，应该是第二个。", 16.5),
        ("嗯。", 21.5),
        ("接下来按 Save 键。", 22.4),
        acts=acts,
    )
    assert found == [
        ("我先打开菜单。", "plan", "before", (0,)),
        ("打开了。", "evaluation", "during", (0,)),
        ("然后输入名字，再选择城市。", "plan", "before", (1, 2, 3)),
        ("不对，应该是第二个。", "correction", "before", (4,)),
        ("嗯。", "filler", None, ()),
        ("接下来按 Save 键。", "plan", "before", (5,)),
    ]


def test_chinese_text_that_is_typed_belongs_to_its_act() -> None:
    acts = [act(CLICK, 1, 1.1), act(TYPE, 4, 5, "北京"), act(CLICK, 8, 8.1)]
    assert align_chinese(("城市是北京。", 5.2), acts=acts) == [("城市是北京。", "plan", "after", (1,))]


def test_a_repetition_in_chinese_is_no_enumeration() -> None:
    acts = [act(CLICK, 3, 3.1), act(CLICK, 5, 5.1)]
    assert align_chinese(("我再点一次。", 1), acts=acts) == [("我再点一次。", "plan", "before", (0,))]
