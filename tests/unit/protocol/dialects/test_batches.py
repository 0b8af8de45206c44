"""Several actions in one reply: read in order where they may be, refused where they are more or another turn."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.parts.fuzzing.replies import TURNS, cases, classify_reading
from protocol.actions.types import (
    CONTROL_KINDS,
    Action,
    Click,
    DoubleClick,
    Finish,
    MouseClick,
    Point,
    Press,
    PressKeys,
    Release,
    RightClick,
    Scroll,
    TypeText,
    Wait,
)
from protocol.dialects.dialect import ParsedReply, ScreenSize, UnparsedReply
from protocol.dialects.families import get_dialect, list_dialects
from protocol.dialects.family_dialect import BatchCodec, FamilyDialect
from protocol.trajectory.steps import BatchPosition, Step
from tests.unit.protocol.examples import TASK, observation, step
from tests.unit.protocol.strategies import replies

SCREEN = ScreenSize(width=1000, height=1000)
THREE: tuple[Action, ...] = (Click(x=500, y=500), TypeText(text="it's \"one\"\n(two')"), PressKeys(keys=("enter",)))


def is_batching(name: str) -> bool:
    dialect = get_dialect(name)
    return isinstance(dialect, FamilyDialect) and isinstance(dialect.codec, BatchCodec)


HOSTED = ("anthropic", "openai_computer", "gemini_computer")
BATCHING = [name for name in list_dialects() if is_batching(name)]


def write(name: str, thought: str, actions: tuple[Action, ...]) -> str:
    """A reply with several actions, as the family's own grammar puts them together."""
    dialect = get_dialect(name)
    first, *others = (dialect.write(thought if not nth else "", action, SCREEN) for nth, action in enumerate(actions))
    if name in ("opencua", "evocua_s1"):
        lines = [re.findall(r"```python\n(.*)\n```", text, re.DOTALL)[0] for text in (first, *others)]
        return first.replace(lines[0], "\n".join(lines))
    if name in ("json_calls", "ui_tars_2", "qwen_computer", "qwen2_5_computer", "qwen_mobile", *HOSTED):
        return "\n".join((first, *others))
    return "\n\n".join((first, *(text.removeprefix("Action: ") for text in others)))


@pytest.mark.parametrize("name", BATCHING)
def test_they_are_read_in_order_with_their_thought(name: str) -> None:
    read = get_dialect(name).parse(write(name, "I fill it in.", THREE), SCREEN, max_actions=3)
    assert isinstance(read, ParsedReply), read
    assert read.actions == THREE
    assert read.thought == "I fill it in."


@pytest.mark.parametrize("name", BATCHING)
@pytest.mark.parametrize("most", [1, 2])
def test_more_than_may_be_are_refused(name: str, most: int) -> None:
    read = get_dialect(name).parse(write(name, "So.", THREE), SCREEN, max_actions=most)
    assert isinstance(read, UnparsedReply)
    assert read.error.code == "several_actions"


@pytest.mark.parametrize("name", list_dialects())
def test_one_action_is_one_whatever_may_be(name: str) -> None:
    text = get_dialect(name).write("So.", THREE[0], SCREEN)
    assert get_dialect(name).parse(text, SCREEN, max_actions=16) == get_dialect(name).parse(text, SCREEN)


@pytest.mark.parametrize("name", BATCHING)
@pytest.mark.parametrize("turn", TURNS)
def test_another_turn_after_them_is_refused(name: str, turn: str) -> None:
    text = write(name, "So.", THREE) + turn
    read = get_dialect(name).parse(text, SCREEN, max_actions=16)
    own_call = isinstance(read, ParsedReply) and len(read.actions) == len(THREE) + 1
    assert isinstance(read, UnparsedReply) or own_call, read
    assert not own_call or not re.search("Thought|Observation|im_start|User", turn), read


@pytest.mark.parametrize("name", BATCHING)
def test_nothing_follows_an_end(name: str) -> None:
    ended = get_dialect(name).parse(write(name, "So.", (THREE[0], Finish(answer="7"))), SCREEN, max_actions=3)
    assert isinstance(ended, ParsedReply)
    assert ended.actions == (THREE[0], Finish(answer="7"))
    read = get_dialect(name).parse(write(name, "So.", (Finish(answer="7"), THREE[0])), SCREEN, max_actions=3)
    assert isinstance(read, UnparsedReply)
    assert read.error.code == "several_actions"


@pytest.mark.parametrize("name", BATCHING)
def test_one_that_is_no_action_refuses_all(name: str) -> None:
    text = write(name, "So.", (THREE[0], Click(x=7, y=7), Wait(seconds=3)))
    for broken in (text.replace("click", "clack"), text.replace("wait", "wart")):
        read = get_dialect(name).parse(broken, SCREEN, max_actions=16)
        assert isinstance(read, UnparsedReply), (broken, read)


@pytest.mark.parametrize("name", BATCHING)
def test_a_cut_gives_the_first_of_them_or_none(name: str) -> None:
    text = write(name, "So.", THREE)
    for end in range(len(text)):
        read = get_dialect(name).parse(text[:end], SCREEN, max_actions=16)
        if isinstance(read, ParsedReply):
            assert read.actions == THREE[: len(read.actions)], text[:end]
        cut = get_dialect(name).parse(text[:end], SCREEN, max_actions=16, finish_reason="length")
        assert isinstance(cut, UnparsedReply)


@pytest.mark.parametrize("name", BATCHING)
def test_the_prompt_says_that_they_may_be(name: str) -> None:
    dialect = get_dialect(name)
    plain, batching = (dialect.render(TASK, (), observation("screen-0"), max_actions=most) for most in (1, 7))
    assert plain == dialect.render(TASK, (), observation("screen-0"))
    assert "up to 7" in str(batching)
    assert "up to 7" not in str(plain)


def test_no_spoiled_reply_becomes_another_action() -> None:
    for _, case in zip(range(1_500), cases(20_261_128), strict=False):
        read = get_dialect(case.dialect).parse(case.reply, case.screen, max_actions=16)
        if isinstance(read, ParsedReply) and read.further_actions:
            assert read.actions[1 if case.kind == "after another" else 0] == case.action, case
        else:
            assert classify_reading(case, read) != "another", case


@pytest.mark.parametrize("name", BATCHING)
@settings(max_examples=25)
@given(text=replies)
def test_any_text_is_read_or_refused(name: str, text: str) -> None:
    one, several = (get_dialect(name).parse(text, SCREEN, max_actions=most) for most in (1, 16))
    assert isinstance(several, ParsedReply | UnparsedReply)
    assert isinstance(one, UnparsedReply) or several == one


POINTS = st.tuples(st.integers(0, 99), st.integers(0, 99)).map(lambda at: (10 * at[0], 10 * at[1]))
TYPED = st.characters(codec="utf-8", exclude_categories=("Cs", "Cc"), exclude_characters="(（")
"""A parenthesis that stays open in a text leaves open where the call ends: such a reply is refused."""
SINGLE: st.SearchStrategy[Action] = st.one_of(
    POINTS.map(lambda at: Click(x=at[0], y=at[1])),
    POINTS.map(lambda at: RightClick(x=at[0], y=at[1])),
    POINTS.map(lambda at: DoubleClick(x=at[0], y=at[1])),
    st.text(TYPED, min_size=1, max_size=12).map(lambda text: TypeText(text=text)),
    st.sampled_from((PressKeys(keys=("ctrl", "a")), Wait(seconds=2), Scroll(point=None, direction="up", amount=3))),
)


@pytest.mark.parametrize("name", BATCHING)
@settings(max_examples=25)
@given(actions=st.lists(SINGLE, min_size=2, max_size=6).map(tuple))
def test_any_sequence_is_read_as_it_was_written(name: str, actions: tuple[Action, ...]) -> None:
    assert not any(action.kind in CONTROL_KINDS for action in actions)
    read = get_dialect(name).parse(write(name, "So.", actions), SCREEN, max_actions=16)
    assert isinstance(read, ParsedReply), read
    assert read.actions == actions


@pytest.mark.parametrize(
    ("name", "reply", "actions"),
    [
        (
            "json_calls",
            '<tool_call>\n{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [500, 500]}}\n'
            '</tool_call>\n<tool_call>\n{"name": "computer_use", "arguments": {"action": "type", "text": "a"}}\n'
            "</tool_call>",
            (Click(x=500, y=500), TypeText(text="a")),
        ),
        (
            "json_calls",
            '{"thought": "So.", "actions": [{"action": "wait"}, {"action": "finished"}]}',
            (Wait(), Finish()),
        ),
        ("json_calls", '[{"action": "wait"}, {"action": "finished"}]', (Wait(), Finish())),
        (
            "json_calls",
            '{"action": "type", "arguments": {"point": [500, 500], "content": "a"}}',
            (Click(x=500, y=500), TypeText(text="a")),
        ),
        (
            "opencua",
            "## Code:\n```python\npyautogui.keyDown('ctrl')\npyautogui.click(x=1, y=2)\npyautogui.keyUp('ctrl')\n"
            "pyautogui.press(['a', 'b'])\n```",
            (
                MouseClick(point=Point(x=1, y=2), button="left", clicks=1, keys=("ctrl",)),
                PressKeys(keys=("a",)),
                PressKeys(keys=("b",)),
            ),
        ),
        (
            "opencua",
            "## Code:\n```python\npyautogui.keyDown('shift')\npyautogui.write(message='a')\n"
            "pyautogui.keyUp('shift')\n```",
            (Press(key="shift"), TypeText(text="a"), Release(key="shift")),
        ),
        ("opencua", "## Code:\n```python\npyautogui.press('tab', presses=3)\n```", (PressKeys(keys=("tab",)),) * 3),
    ],
)
def test_what_families_write(name: str, reply: str, actions: tuple[Action, ...]) -> None:
    read = get_dialect(name).parse(reply, SCREEN, max_actions=16)
    assert isinstance(read, ParsedReply), read
    assert read.actions == actions
    assert isinstance(get_dialect(name).parse(reply, SCREEN), UnparsedReply)


@pytest.mark.parametrize(
    ("name", "reply"),
    [
        ("json_calls", '{"action": "wait"} Then I see it. {"action": "finished"}'),
        ("json_calls", '{"action": "wait"}\nObservation: done\n{"action": "finished"}'),
        ("json_calls", '[{"action": "wait"}, {"action": "wait"}'),
        ("json_calls", '{"thought": "a", "action": "wait"}\n{"thought": "b", "action": "wait"}'),
        ("json_calls", '{"actions": [{"action": "wait"}, {"note": 1}]}'),
        ("ui_tars_1_5", "Action: wait()\nObservation: done\nAction: finished()"),
        ("ui_tars_1_5", "Action: wait()\nIt loads.\nwait()"),
        ("ui_tars_1_5", "Action: type(content='(')\n\ntype(content='0')"),
        ("ui_tars_1_5", "Thought: a\nAction: wait()\nThought: b\nAction: wait()"),
        ("ui_tars_2", "<function=wait></function> and then <function=wait></function>"),
        ("opencua", "## Code:\n```python\ncomputer.wait()\n```\n\n## Code:\n```python\ncomputer.wait()\n```"),
        ("opencua", "## Code:\n```python\n" + "computer.wait()\n" * 21 + "```"),
        ("opencua", "## Code:\n```python\ncomputer.wait()\nfor x in y: pass\n```"),
    ],
)
def test_what_is_no_sequence_is_refused(name: str, reply: str) -> None:
    assert isinstance(get_dialect(name).parse(reply, SCREEN, max_actions=16), UnparsedReply)


@pytest.mark.parametrize("name", BATCHING)
def test_what_is_written_together_is_read_together(name: str) -> None:
    dialect = get_dialect(name)
    assert isinstance(dialect, FamilyDialect)
    assert isinstance(dialect.codec, BatchCodec)
    written = dialect.codec.write_batch("I fill it in.", THREE, SCREEN)
    read = dialect.parse(written, SCREEN, max_actions=3)
    assert isinstance(read, ParsedReply), (written, read)
    assert (read.thought, read.actions) == ("I fill it in.", THREE)


def steps_of_batch(*, done: int) -> tuple[Step, ...]:
    """The steps of a reply with three actions, of which so many were done."""
    return tuple(
        step(nth, action, thought="" if nth else "I fill it in.").model_copy(
            update={
                "proposal_id": "p",
                "batch": BatchPosition(index=nth + 1, size=3),
                "not_done": THREE[done:] if nth + 1 == done else (),
            }
        )
        for nth, action in enumerate(THREE[:done])
    )


@pytest.mark.parametrize("name", BATCHING)
@pytest.mark.parametrize("done", [1, 2, 3])
def test_history_tells_of_them_as_one_turn(name: str, done: int) -> None:
    dialect = get_dialect(name)
    assert isinstance(dialect, FamilyDialect)
    messages = dialect.render(TASK, steps_of_batch(done=done), observation("screen-9"), images=5)
    (said,) = (message for message in messages if message.role == "assistant")
    read = dialect.parse(said.content[0].text, ScreenSize(width=1280, height=720), max_actions=3)  # type: ignore[union-attr]
    assert isinstance(read, ParsedReply)
    assert read.actions == THREE, "what was said, done or not"
    shown = [part for message in messages for part in message.content if part.type == "image"]
    assert len(shown) == 2, "the screen it was said on, and the present one"
    told = "".join(part.text for part in messages[-1].content if part.type == "text")
    assert ("not done" in told) is (done < 3)


def test_outputs_of_all_of_them_are_told() -> None:
    first, second, third = steps_of_batch(done=3)
    with_outputs = tuple(
        one.model_copy(update={"after": observation(f"screen-{nth}").model_copy(update={"text": text})})
        for nth, (one, text) in enumerate(((first, "one"), (second, "two"), (third, "three")))
    )
    messages = get_dialect("ui_tars_1_5").render(TASK, with_outputs, observation("screen-9"))
    told = "".join(part.text for part in messages[-1].content if part.type == "text")
    assert "Output of action 1:\none" in told
    assert "Output of action 2:\ntwo" in told
    assert "Output of the last action:\nthree" in told
