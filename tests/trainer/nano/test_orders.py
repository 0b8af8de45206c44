"""Several parts are asked for in an order: which comes next follows from what was done."""

from dataclasses import replace
from random import Random

from trainer.checkpoints import Checkpoint
from trainer.nano import clicking
from trainer.nano.asked import ACTS_TOLD, NAMES, Speller, batch_of, decision_draw, decision_of
from trainer.nano.orders import BACKWARDS, named_once, order_draw
from trainer.nano.screens import PAGES, Screen, screen_draw
from trainer.nano.targets import NOWHERE

WIDE = PAGES[0]


def _screen(seed: int) -> tuple[Screen, list[int]]:
    for more in range(seed, seed + 1_000_000, 10_000):
        screen = screen_draw(Random(more), page=WIDE, dense=False)
        if len(able := named_once(screen.widgets)) > 2:
            return screen, able
    raise AssertionError("no screen has three names")


def test_what_comes_next_is_the_first_that_was_not_clicked() -> None:
    counts, backwards = set(), 0
    for seed in range(80):
        screen, able = _screen(seed)
        wanted = order_draw(Random(seed), screen.widgets, able)
        names = [name for _, name in wanted.labels]
        assert all(wanted.sentence.encode()[at:].startswith(name.encode()) for at, name in wanted.labels)
        turned = any(wanted.sentence.startswith(before) and between in wanted.sentence for before, between in BACKWARDS)
        ordered = names[::-1] if turned and len(names) == 2 else names
        clicked = [next(one for one in screen.widgets if one.label == name) for name in ordered]
        assert [(one.x, one.y) for one in wanted.done if one.kind == "click"] == [
            tuple(map(round, one.point)) for one in clicked[: len(wanted.done)]
        ]
        assert wanted.widget is not None
        assert screen.widgets[wanted.widget].label == ordered[len(wanted.done)]
        counts.add((len(names), len(wanted.done)))
        backwards += turned
    assert counts == {(2, 0), (2, 1), (3, 0), (3, 1), (3, 2)}
    assert backwards > 0


def test_a_name_that_two_have_is_not_asked_for() -> None:
    screen, _ = _screen(3)
    widgets = (*screen.widgets, screen.widgets[0])
    assert 0 not in named_once(widgets)
    assert len(widgets) - 1 not in named_once(widgets)


def test_letters_are_asked_for_their_name_what_was_done_and_whether_they_are_due(nano: Checkpoint) -> None:
    speller = Speller(nano.tokenizer)
    screen, able = _screen(5)
    wanted = next(
        wanted for wanted in (order_draw(Random(seed), screen.widgets, able) for seed in range(99)) if wanted.done
    )
    ordered, plain = decision_of(speller, screen, wanted), decision_draw(speller, Random(2), screen)
    unknown = replace(plain, due=range(0))
    batch = batch_of([plain, ordered, unknown], speller)
    first, then = len(plain.sentence), len(plain.sentence) + len(wanted.sentence)
    assert batch.told_done.tolist() == [0] * first + [len(wanted.done)] * len(wanted.sentence) + [0] * first
    letters, due = batch.told_names[first:then].tolist(), batch.told_due[first:then].tolist()
    assert wanted.widget is not None
    for number, (at, name) in enumerate(wanted.labels, start=1):
        assert letters[at : at + len(name)] == [number] * len(name)
        mine = int(name == screen.widgets[wanted.widget].label)
        assert due[at : at + len(name)] == [mine] * len(name)
    assert letters.count(0) == len(wanted.sentence) - sum(len(name) for _, name in wanted.labels)
    assert sum(due) == len(screen.widgets[wanted.widget].label)
    assert batch.told_due[:first].sum() == len(plain.due)
    assert (batch.told_due[then:] == NOWHERE).all()
    heads = clicking.heads_make(nano.model)
    loss, figures = clicking.clicking_loss(nano.model, heads, batch, speller)
    loss.backward()
    assert all(heads[name].weight.grad.abs().sum() > 0 for name in ("name", "done", "due"))
    assert {"name_right", "done_right", "due_right"} <= figures.keys()
    nano.model.zero_grad()


def test_more_names_than_there_are_numbers_have_the_last(nano: Checkpoint) -> None:
    speller = Speller(nano.tokenizer)
    screen, able = _screen(7)
    one = decision_of(speller, screen, order_draw(Random(1), screen.widgets, able))
    many = replace(one, names=tuple((one.sentence.start + place, "a") for place in range(NAMES + 3)), done=99)
    batch = batch_of([many], speller)
    assert batch.told_names.max() == NAMES - 1
    assert set(batch.told_done.tolist()) == {ACTS_TOLD - 1}
