"""Screens are drawn from a seed, and what is said to be in them is there."""

from random import Random

import numpy as np
import pytest

from trainer.nano.synthetic.labels import is_held_out, real_words, sample_label
from trainer.nano.synthetic.screens import PAGES, Screen, draw_screen
from trainer.nano.synthetic.targets import (
    BUCKETS,
    CELL,
    NOWHERE,
    cell_centres,
    letter_class,
    letter_pairs,
    screen_targets,
)


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("page", sorted(set(PAGES)))
def test_the_same_seed_gives_the_same_screen(page: tuple[int, int], dense: bool) -> None:
    one, other, another = (draw_screen(Random(seed), page=page, dense=dense) for seed in (7, 7, 8))
    assert one.image.tobytes() == other.image.tobytes() != another.image.tobytes()
    assert one.widgets == other.widgets != another.widgets


@pytest.mark.parametrize("page", sorted(set(PAGES)))
def test_pictures_have_the_size_a_server_gives_them_and_hold_their_widgets(page: tuple[int, int]) -> None:
    screen = draw_screen(Random(1), page=page, dense=False)
    assert screen.image.width % CELL == 0 == screen.image.height % CELL
    assert screen.image.width * screen.image.height // CELL**2 == 108
    for widget in screen.widgets:
        assert widget.hit(*widget.point)
        assert 0 <= widget.box[0] < widget.box[2] <= screen.image.width
        assert 0 <= widget.box[1] < widget.box[3] <= screen.image.height


def test_no_two_widgets_of_a_form_are_called_alike_or_overlap() -> None:
    for seed in range(30):
        widgets = draw_screen(Random(seed), page=(320, 240), dense=False).widgets
        assert len({widget.label.lower() for widget in widgets}) == len(widgets)
        for place, one in enumerate(widgets):
            assert not any(one.hit(*other.point) for other in widgets[place + 1 :])


def test_letters_stand_where_there_is_ink() -> None:
    screen = _plain()
    patches = np.asarray(screen.image.convert("L"), np.int64).reshape(-1, 14, screen.image.width // 14, 14)
    contrast = np.ptp(patches.transpose(0, 2, 1, 3).reshape(patches.shape[0], patches.shape[2], -1), axis=-1)
    in_cells = contrast.reshape(contrast.shape[0] // 2, 2, contrast.shape[1] // 2, 2).transpose(0, 2, 1, 3).reshape(-1)
    written = (screen_targets(screen).letters > 0).any(-1)
    assert written.sum() > 20
    assert (in_cells[written] > 40).mean() > 0.9


def test_cells_know_the_pairs_that_meet_in_them_and_their_widget() -> None:
    screen = _plain()
    seen = screen_targets(screen)
    _, cells = cell_centres(screen.image.height // CELL, screen.image.width // CELL)
    for number, widget in enumerate(screen.widgets):
        line = (widget.writing.top + widget.writing.bottom) / 2
        for place, pair in letter_pairs(widget.label):
            nearest = np.abs(cells - np.array((widget.writing.bounds[place], line))).max(-1).argmin()
            assert seen.pairs[nearest, pair]
        if (own := seen.widgets == number).any():
            assert (seen.points[own] == np.array(widget.point, int)).all()
    assert (seen.widgets >= NOWHERE).all()
    assert seen.pairs.shape == (108, BUCKETS)
    assert seen.pairs.sum(-1).max() < 40  # a cell is not told of what is elsewhere


def test_offsets_lead_from_a_patch_to_the_click() -> None:
    screen = _plain()
    seen = screen_targets(screen)
    patches, _ = cell_centres(screen.image.height // CELL, screen.image.width // CELL)
    reached = patches[seen.offered] + seen.offsets[seen.offered] * CELL
    points = np.array([widget.point for widget in screen.widgets])
    nearest = np.abs(reached[:, None] - points[None]).sum(-1).min(-1)
    assert nearest.max() < 0.01


def test_words_kept_for_measuring_are_in_no_other_label() -> None:
    random = Random(3)
    trained = [sample_label(random) for _ in range(2_000)]
    held_out = [sample_label(random, held_out=True) for _ in range(500)]
    assert all(is_held_out(word) for label in held_out for word in label.split())
    words = {word.lower() for label in trained for word in label.split() if word.isalpha() and len(word) > 3}
    assert len([word for word in words if is_held_out(word)]) / len(words) < 0.05  # letters at random may make one
    assert not set(real_words(held_out=True)) & set(real_words(held_out=False))
    assert len(real_words(held_out=False)) > 1_500
    assert len(real_words(held_out=True)) > 100


def test_labels_are_known_by_their_pairs() -> None:
    assert [place for place, _ in letter_pairs("Go on")] == [0, 1, 2, 3, 4, 5]
    assert dict(letter_pairs("Go on"))[1] == dict(letter_pairs("Got"))[1]
    assert letter_pairs("Save") != letter_pairs("save") != letter_pairs("vase")
    assert letter_class(" ") == 0 < letter_class("A") < letter_class("é")


def _plain() -> Screen:
    return draw_screen(Random(12), page=(320, 240), dense=True)
