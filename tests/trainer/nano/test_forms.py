"""Steps of drawn forms: what comes next follows from what stands there; letters are copied from where they are."""

import re
from random import Random

import pytest
import torch

from protocol.actions.types import Click, TypeText
from protocol.dialects.dialect import ParsedReply
from protocol.dialects.dialect import ScreenSize as Size
from trainer.model.checkpoints import Checkpoint
from trainer.nano.batches import (
    Decision,
    DecisionTokenizer,
    build_batch,
    build_decision,
    build_decision_without_picture,
)
from trainer.nano.clicking import COPYING, MIDDLE, create_heads, spelling_loss
from trainer.nano.forward import attention_shares, decode_text
from trainer.nano.prompts import nano_dialect
from trainer.nano.synthetic.forms import (
    NextAction,
    draw_form,
    draw_list,
    draw_paragraph,
    draw_task,
    draw_text_step,
    sample_text,
)
from trainer.nano.synthetic.labels import is_held_out
from trainer.nano.synthetic.screens import PAGES, Screen
from trainer.nano.synthetic.targets import NOWHERE, letter_class, screen_targets

SMALL = sorted(set(PAGES))[0]


@pytest.mark.parametrize("page", sorted(set(PAGES)))
def test_the_same_seed_gives_the_same_step(page: tuple[int, int]) -> None:
    (one, asked), (other, again), (another, _) = (draw_task(Random(seed), page) for seed in (5, 5, 6))
    assert one.image.tobytes() == other.image.tobytes() != another.image.tobytes()
    assert asked == again


def test_a_form_is_filled_in_as_far_as_was_typed() -> None:
    kinds = set()
    for screen, wanted in _sample_screens(draw_form, 60):
        typed = [act.text for act in wanted.done if isinstance(act, TypeText)]
        fields = [widget for widget in screen.widgets if widget.kind == "field"]
        assert [field.state.text for field in fields if field.state.text] == typed
        assert all(f'"{text}"' in wanted.sentence for text in typed)
        focused = [field for field in fields if field.state.focused]
        if isinstance(wanted.act, TypeText):
            (field,) = focused
            assert isinstance(wanted.done[-1], Click)
            assert field.hit(wanted.done[-1].x, wanted.done[-1].y)
            assert wanted.text_at is not None
            assert wanted.sentence[wanted.text_at :].startswith(f'{wanted.act.text}"')
            kinds.add("type")
        else:
            assert wanted.widget is not None
            kinds.add(screen.widgets[wanted.widget].kind)
    assert kinds == {"type", "field", "button"}


def test_of_a_list_the_first_that_is_wanted_and_not_ticked_comes_next() -> None:
    ends = 0
    for screen, wanted in _sample_screens(draw_list, 60):
        *boxes, button = screen.widgets
        names = {label for _, label in wanted.labels[:-1]}
        left = [box for box in boxes if box.label in names and not box.state.ticked]
        assert all(box.label in names for box in boxes if box.state.ticked)
        assert wanted.widget is not None
        assert screen.widgets[wanted.widget] == (left[0] if left else button)
        assert len(wanted.done) == sum(box.state.ticked for box in boxes)
        ends += not left
    assert 0 < ends < 60


def test_links_stand_in_running_text() -> None:
    for screen, wanted in _sample_screens(draw_paragraph, 20):
        assert wanted.widget is not None
        link = screen.widgets[wanted.widget]
        assert link.kind == "link"
        assert [one.label for one in screen.widgets].count(link.label) == 1
        assert link.label in wanted.sentence
        assert {"link", "text"} >= {one.kind for one in screen.widgets}


def test_what_stands_in_a_field_is_to_be_read_there() -> None:
    found = 0
    for screen, _ in _sample_screens(draw_form, 40):
        letters = screen_targets(screen).letters
        for widget in screen.widgets:
            if widget.content is not None and not widget.state.secret and len(widget.content.text) > 3:
                assert {letter_class(letter) for letter in widget.content.text} & set(letters.ravel().tolist())
                found += 1
    assert found > 5


def test_words_kept_for_measuring_are_asked_to_be_typed_where_they_are_wanted() -> None:
    for number in range(20):
        _, wanted = draw_task(Random(number), SMALL, held_out=True)
        for text in (act.text for act in (*wanted.done, wanted.act) if isinstance(act, TypeText)):
            assert all(is_held_out(word) for word in text.split())


def test_letters_are_copied_from_where_they_stand(nano: Checkpoint) -> None:
    decision_tokenizer, typed = DecisionTokenizer(nano.tokenizer), 0
    for screen, wanted in _sample_screens(draw_form, 30):
        one = build_decision(decision_tokenizer, screen, wanted)
        said = nano.tokenizer.decode(one.reply, skip_special_tokens=True)
        parsed = nano_dialect().parse(said, Size(width=screen.image.width, height=screen.image.height))
        assert isinstance(parsed, ParsedReply)
        assert parsed.action == wanted.act
        batch = build_batch([one], decision_tokenizer)
        if not isinstance(wanted.act, TypeText):
            assert len(batch.copied) == 0
            continue
        typed += 1
        assert one.chosen == NOWHERE
        assert float(batch.targets.sum()) == 0
        stands = batch.ids[0, batch.copied]
        assert nano.tokenizer.decode(stands) == f'{wanted.act.text}"'
        assert batch.ids[0, batch.copied_at + 1].tolist()[:-1] == stands.tolist()[:-1]
        assert batch.ordinals.tolist() == list(range(len(wanted.act.text) + 1))
    assert typed > 5


def test_without_a_picture_places_go_on_as_if_there_were_one(nano: Checkpoint) -> None:
    decision_tokenizer = DecisionTokenizer(nano.tokenizer)
    screen, wanted = next(one for one in _sample_screens(draw_form, 30) if isinstance(one[1].act, TypeText))
    whole = build_decision(decision_tokenizer, screen, wanted)
    blind = build_decision_without_picture(decision_tokenizer, wanted, screen.image.size)
    assert (blind.before, blind.after, blind.reply) == (whole.before, whole.after, whole.reply)
    one, other = (build_batch([each], decision_tokenizer) for each in (whole, blind))
    assert one.places[:, 0, -1].tolist() == other.places[:, 0, -1].tolist()
    assert other.ids.shape[1] == one.ids.shape[1] - 108


def test_where_letters_are_looked_for_is_where_the_layer_looks(
    nano: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = build_batch(_blind(nano, 2), DecisionTokenizer(nano.tokenizer))
    words = nano.model.model.language_model.embed_tokens(batch.ids)
    with torch.no_grad():
        _, (middle,) = decode_text(nano.model, words, batch.places, (MIDDLE,))
        looks = attention_shares(nano.model, COPYING, middle, batch.places, batch.copied_at)
        monkeypatch.setattr(nano.model.config, "_attn_implementation", "eager")
        theirs = nano.model.model.language_model(
            inputs_embeds=words, position_ids=batch.places, output_attentions=True
        ).attentions[COPYING]
    rows, columns = batch.copied_at // batch.ids.shape[1], batch.copied_at % batch.ids.shape[1]
    assert torch.allclose(looks, theirs[rows, :, columns], atol=1e-4)


def test_a_letter_that_is_typed_right_costs_less(nano: Checkpoint) -> None:
    batch = build_batch(_blind(nano, 4), DecisionTokenizer(nano.tokenizer))
    loss, figures = spelling_loss(nano.model, create_heads(nano.model), batch)
    assert torch.isfinite(loss)
    assert {"spelled_copied_right", "spelled_typed_right", "spelled_ordinal_right"} <= set(figures)


def _sample_screens(layout: object, count: int) -> list[tuple[Screen, NextAction]]:
    made = [layout(Random(number), SMALL, False) for number in range(2 * count)]  # type: ignore[operator]
    found = [one for one in made if one is not None]
    assert len(found) >= count / 2
    return found[:count]


def _blind(nano: Checkpoint, count: int) -> list[Decision]:
    decision_tokenizer = DecisionTokenizer(nano.tokenizer)
    return [
        build_decision_without_picture(decision_tokenizer, *draw_text_step(Random(number))) for number in range(count)
    ]


def test_what_is_typed_is_sometimes_joined_by_a_sign_and_never_of_words_kept_away() -> None:
    drawn = [sample_text(Random(number), held_out=False) for number in range(400)]
    addresses = [text for text in drawn if re.fullmatch(r"[A-Za-z]+@[A-Za-z]+", text)]
    assert addresses
    assert not any(is_held_out(word) for text in addresses for word in text.split("@"))
    assert all("@" not in sample_text(Random(number), held_out=True) for number in range(100))
