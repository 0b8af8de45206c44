"""A prompt in place of a dialect's own is filled in as it says, and one that could not be is refused."""

import pytest
from pydantic import ValidationError

from protocol.actions.types import Click, Finish, NoAction
from protocol.dialects.dialect import ChatMessage, ImagePart, ScreenSize, TextPart
from protocol.dialects.families import get_dialect, list_dialects
from protocol.dialects.prompt_template import PLACEHOLDERS, PromptTemplate
from protocol.trajectory.steps import Step
from tests.unit.protocol.examples import TASK, observation, step

SCREEN = ScreenSize(width=1000, height=1000)
LISTED = PromptTemplate(
    prompt='Tools: {"name": "computer_use", "size": [{width}, {height}]}. Think in {language}.',
    task="{screen}Do this: {instruction}\nDone before:\n{steps}",
)


def _rendered(template: PromptTemplate, steps: tuple[Step, ...] = (), *, images: int = 2) -> tuple[ChatMessage, ...]:
    return get_dialect("qwen_computer", template).render(TASK, steps, observation("now"), images=images)


def _texts(message: ChatMessage) -> list[str]:
    return [part.text if isinstance(part, TextPart) else "(screen)" for part in message.content]


def test_the_system_message_is_filled_in_and_json_stays_as_it_is() -> None:
    system = _rendered(LISTED)[0]
    assert system.role == "system"
    assert _texts(system) == ['Tools: {"name": "computer_use", "size": [1000, 1000]}. Think in English.']


def test_pixels_are_those_of_the_picture_the_model_sees() -> None:
    template = PromptTemplate(prompt="{width}x{height}: {instruction}")
    (prompt, *_) = get_dialect("qwen2_5_computer", template).render(TASK, (), observation("now"))
    assert _texts(prompt) == [f"1288x728: {TASK.instruction}"]


def test_the_first_screen_is_in_the_first_message() -> None:
    first = _rendered(LISTED)[1]
    assert first.role == "user"
    assert _texts(first) == ["(screen)", f"Do this: {TASK.instruction}\nDone before:\nNone"]


def test_steps_without_a_screen_are_listed_and_are_no_turns() -> None:
    thoughts = ("Open the\n menu.", "", "Close it.")
    steps = tuple(step(index, Click(x=640, y=360), thought=thought) for index, thought in enumerate(thoughts))
    _, first, *rest = _rendered(LISTED, steps)
    assert _texts(first)[-1].endswith("Done before:\nStep 1: Open the menu.\nStep 2: Click at (500, 500)")
    assert [message.role for message in rest] == ["assistant", "user"]
    screens = [part.image for part in (*first.content, *rest[-1].content) if isinstance(part, ImagePart)]
    assert screens == [steps[2].before.screenshot, observation("now").screenshot]


def test_a_listed_reply_that_was_no_action_is_what_was_said() -> None:
    steps = (step(0, NoAction(said="Hm <|im_end|>"), thought=""), step(1, Click(x=1, y=1)))
    assert "Step 1: Hm < |im_end| >" in _texts(_rendered(LISTED, steps)[1])[-1]


def test_text_from_outside_is_not_filled_in_again() -> None:
    task = TASK.model_copy(update={"instruction": "Type {language} and {{width}}."})
    prompt = get_dialect("ui_tars_1_5", PromptTemplate(prompt="{instruction}")).render(task, (), observation())[0]
    assert _texts(prompt) == ["Type {language} and {{width}}."]


def test_braces_in_braces_are_read_by_the_model() -> None:
    assert _texts(_rendered(PromptTemplate(prompt="<think>{{think}}</think> {instruction}"))[0]) == [
        f"<think>{{think}}</think> {TASK.instruction}"
    ]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"prompt": "Do it."}, "{instruction} is missing"),
        ({"prompt": "{instruction} {action_space}"}, r"\{action_space\} is nothing that can be filled in"),
        ({"prompt": "{instruction} {screen}"}, "for the user's first message"),
        ({"prompt": "x", "task": "{screen}{instruction}{screen}"}, "more than once"),
        ({"prompt": ""}, "at least 1 character"),
        ({"prompt": "{instruction}" + "a" * 40_000}, "at most 40000"),
    ],
)
def test_what_cannot_be_filled_in_is_refused(fields: dict[str, str], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        PromptTemplate(**fields)


@pytest.mark.parametrize("name", list_dialects())
def test_every_dialect_takes_another_prompt_and_reads_the_same(name: str) -> None:
    template = PromptTemplate(
        prompt=" ".join(f"{{{each}}}" for each in PLACEHOLDERS if each not in ("steps", "screen"))
    )
    own, other = get_dialect(name), get_dialect(name, template)
    assert TASK.instruction in _texts(other.render(TASK, (), observation())[0])[0]
    assert other.template == template
    assert own.template == get_dialect(name).template
    assert own.kinds == other.kinds
    screen_turn = own.write("Done.", Finish(), SCREEN)
    assert own.parse(screen_turn, SCREEN) == other.parse(screen_turn, SCREEN)
