"""Drawn pages of sites: what is asked for is what is done, and heads are told where a drag ends."""

from collections import Counter
from collections.abc import Callable
from random import Random

import pytest

from protocol.actions.types import Click, Drag, TypeText
from protocol.dialects.dialect import ParsedReply
from protocol.dialects.dialect import ScreenSize as Size
from trainer.model.checkpoints import Checkpoint
from trainer.nano.batches import DecisionTokenizer, build_batch, build_decision
from trainer.nano.prompts import nano_dialect
from trainer.nano.synthetic.forms import NextAction
from trainer.nano.synthetic.screens import PAGES, Screen
from trainer.nano.synthetic.sites import draw_board, draw_lines, draw_signup, draw_site
from trainer.nano.synthetic.targets import letter_pairs

PAGE = PAGES[0]


def test_the_same_seed_gives_the_same_page() -> None:
    (one, asked), (other, again), (another, _) = (draw_site(Random(seed), PAGE) for seed in (5, 5, 6))
    assert one.image.tobytes() == other.image.tobytes() != another.image.tobytes()
    assert asked == again


def test_what_is_pressed_stands_in_the_line_that_is_asked_for() -> None:
    apart = 0
    for screen, wanted in _sample_screens(draw_lines, 60):
        assert isinstance(wanted.act, Click)
        assert wanted.widget is not None
        line = screen.widgets[wanted.widget]
        ((at, label),) = wanted.labels
        assert label == line.label
        assert wanted.sentence.encode()[at:].startswith(label.encode())
        assert line.hit(wanted.act.x, wanted.act.y)
        assert line.box[1] <= wanted.act.y <= line.box[3]
        apart += wanted.act.x > line.writing.bounds[-1] + 10
    assert apart > 30  # the words themselves are mostly not what is pressed


def test_a_card_is_dragged_out_of_its_column_into_another() -> None:
    for screen, wanted in _sample_screens(draw_board, 40):
        assert isinstance(wanted.act, Drag)
        assert wanted.widget is not None
        assert wanted.ended is not None
        card, column = screen.widgets[wanted.widget], screen.widgets[wanted.ended]
        assert [label for _, label in wanted.labels] == [card.label, column.label]
        assert card.hit(wanted.act.start.x, wanted.act.start.y)
        assert column.box[0] < wanted.act.end.x < column.box[2]
        assert not column.box[0] < wanted.act.start.x < column.box[2]
        assert wanted.act.end.y > column.box[1]


def test_people_are_signed_up_from_top_to_bottom() -> None:
    kinds = Counter[str]()
    for screen, wanted in _sample_screens(draw_signup, 80):
        typed = [act.text for act in wanted.done if isinstance(act, TypeText)]
        fields = [widget for widget in screen.widgets if widget.kind == "field"]
        assert [field.state.text for field in fields if field.state.text] == typed
        if isinstance(wanted.act, TypeText):
            (field,) = (field for field in fields if field.state.focused)
            assert ("@" in wanted.act.text) == ("ail" in field.label)
            assert wanted.text_at is not None
            assert wanted.sentence.encode()[wanted.text_at :].startswith(wanted.act.text.encode())
            kinds["type"] += 1
        else:
            assert isinstance(wanted.act, Click)
            assert wanted.widget is not None
            pressed = screen.widgets[wanted.widget]
            assert pressed.hit(wanted.act.x, wanted.act.y)
            assert pressed.kind != "radio" or pressed.label in {label for _, label in wanted.labels}
            kinds[pressed.kind] += 1
    assert set(kinds) == {"type", "field", "radio", "button"}


@pytest.mark.parametrize("number", range(12))
def test_a_page_is_asked_about_in_the_dialect_and_its_labels_are_found_behind_curly_quotes(
    nano: Checkpoint, number: int
) -> None:
    decision_tokenizer = DecisionTokenizer(nano.tokenizer)
    screen, wanted = draw_site(Random(f"asked {number}"), PAGE)
    one = build_decision(decision_tokenizer, screen, wanted)
    height, width, _ = one.pixels.shape
    said = nano_dialect().parse(
        nano.tokenizer.decode(one.reply, skip_special_tokens=True), Size(width=width, height=height)
    )
    assert isinstance(said, ParsedReply)
    assert said.action == wanted.act
    letters = nano.tokenizer.decode([one.before[place] for place in one.sentence])
    assert letters == wanted.sentence
    assert len(one.pairs) == sum(len(letter_pairs(label)) for _, label in wanted.labels)
    if isinstance(wanted.act, TypeText):
        assert nano.tokenizer.decode([one.before[place] for place in one.copied])[:-1] == wanted.act.text


def test_heads_are_told_of_the_column_a_drag_ends_at(nano: Checkpoint) -> None:
    decision_tokenizer = DecisionTokenizer(nano.tokenizer)
    boards = [build_decision(decision_tokenizer, *one) for one in _sample_screens(draw_board, 4)]
    lines = [build_decision(decision_tokenizer, *one) for one in _sample_screens(draw_lines, 2)]
    batch = build_batch([*boards, *lines], decision_tokenizer)
    assert batch.ends.sum(-1).tolist() == pytest.approx([1, 1, 1, 1, 0, 0])
    assert not (batch.ends * batch.targets).any()  # no card stands in the column that it goes to


def _sample_screens(
    layout: Callable[[Random, tuple[int, int]], tuple[Screen, NextAction] | None], count: int
) -> list[tuple[Screen, NextAction]]:
    made = (layout(Random(f"{layout.__name__} {number}"), PAGE) for number in range(8 * count))
    return [one for one in made if one is not None][:count]
