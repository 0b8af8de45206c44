"""Several parts are asked for in an order: which comes next follows from what was done."""

from dataclasses import replace
from random import Random

from trainer.model.checkpoints import Checkpoint
from trainer.nano import clicking
from trainer.nano.batches import (
    MAX_COUNTED_ACTIONS,
    NAMES,
    DecisionTokenizer,
    build_batch,
    build_decision,
    sample_decision,
)
from trainer.nano.synthetic.ordered_tasks import BACKWARDS, sample_ordered_task, uniquely_named
from trainer.nano.synthetic.screens import PAGES, Screen, draw_screen
from trainer.nano.synthetic.targets import NOWHERE

WIDE = PAGES[0]


def _screen(seed: int) -> tuple[Screen, list[int]]:
    for more in range(seed, seed + 1_000_000, 10_000):
        screen = draw_screen(Random(more), page=WIDE, dense=False)
        if len(able := uniquely_named(screen.widgets)) > 2:
            return screen, able
    raise AssertionError("no screen has three names")


def test_what_comes_next_is_the_first_that_was_not_clicked() -> None:
    counts, backwards = set(), 0
    for seed in range(80):
        screen, able = _screen(seed)
        wanted = sample_ordered_task(Random(seed), screen.widgets, able)
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
    assert 0 not in uniquely_named(widgets)
    assert len(widgets) - 1 not in uniquely_named(widgets)


def test_letters_are_asked_for_their_name_what_was_done_and_whether_they_are_due(nano: Checkpoint) -> None:
    decision_tokenizer = DecisionTokenizer(nano.tokenizer)
    screen, able = _screen(5)
    wanted = next(
        wanted
        for wanted in (sample_ordered_task(Random(seed), screen.widgets, able) for seed in range(99))
        if wanted.done
    )
    ordered, plain = (
        build_decision(decision_tokenizer, screen, wanted),
        sample_decision(decision_tokenizer, Random(2), screen),
    )
    unknown = replace(plain, due=range(0))
    batch = build_batch([plain, ordered, unknown], decision_tokenizer)
    first, then = len(plain.sentence), len(plain.sentence) + len(wanted.sentence)
    assert batch.done_count.tolist() == [0] * first + [len(wanted.done)] * len(wanted.sentence) + [0] * first
    letters, due = batch.instruction_names[first:then].tolist(), batch.due[first:then].tolist()
    assert wanted.widget is not None
    for number, (at, name) in enumerate(wanted.labels, start=1):
        assert letters[at : at + len(name)] == [number] * len(name)
        mine = int(name == screen.widgets[wanted.widget].label)
        assert due[at : at + len(name)] == [mine] * len(name)
    assert letters.count(0) == len(wanted.sentence) - sum(len(name) for _, name in wanted.labels)
    assert sum(due) == len(screen.widgets[wanted.widget].label)
    assert batch.due[:first].sum() == len(plain.due)
    assert (batch.due[then:] == NOWHERE).all()
    heads = clicking.create_heads(nano.model)
    loss, figures = clicking.clicking_loss(nano.model, heads, batch, decision_tokenizer)
    loss.backward()
    assert all(heads[name].weight.grad.abs().sum() > 0 for name in ("name", "done", "due"))
    assert {"name_right", "done_right", "due_right"} <= figures.keys()
    nano.model.zero_grad()


def test_more_names_than_there_are_numbers_have_the_last(nano: Checkpoint) -> None:
    decision_tokenizer = DecisionTokenizer(nano.tokenizer)
    screen, able = _screen(7)
    one = build_decision(decision_tokenizer, screen, sample_ordered_task(Random(1), screen.widgets, able))
    many = replace(one, names=tuple((one.sentence.start + place, "a") for place in range(NAMES + 3)), done=99)
    batch = build_batch([many], decision_tokenizer)
    assert batch.instruction_names.max() == NAMES - 1
    assert set(batch.done_count.tolist()) == {MAX_COUNTED_ACTIONS - 1}
