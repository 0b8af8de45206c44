"""How coarsely a picture is drawn: as finely as what may be sent allows, and finer by steps once it rests."""

import numpy as np
import pytest

from vm_bridge.streams.quantiser import (
    BEST,
    DEBT,
    FINER,
    WORST,
    Bucket,
    Quantiser,
    bytes_expected,
    detail,
    quantiser_for,
)

RATE = 750_000.0
"""Bytes a second."""
NONE = np.empty((0, 0), np.uint8)


def noise(height: int, width: int) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    return np.random.default_rng(height).integers(0, 256, (height, width), np.uint8)


def test_detail_is_the_mean_step_from_pixel_to_pixel() -> None:
    assert detail(np.full((64, 64), 90, np.uint8)) == 0
    stripes = np.tile(np.array([0, 200], np.uint8), (64, 32))
    assert detail(stripes) == 200
    assert detail(np.zeros((5, 1), np.uint8)) == 0


def test_the_finest_is_chosen_that_fits() -> None:
    chosen = quantiser_for(100_000, 20.0, 12_000)
    assert BEST < chosen < WORST
    assert bytes_expected(100_000, 20.0, chosen) <= 12_000 < bytes_expected(100_000, 20.0, chosen - 1)
    assert quantiser_for(100_000, 20.0, 1e9) == BEST
    assert quantiser_for(100_000, 20.0, 1) == WORST


def test_a_bucket_fills_at_the_rate_up_to_a_burst() -> None:
    bucket = Bucket(0.05)
    bucket.fill(10.0, 1_000)
    assert bucket.level == bucket.burst == 50
    bucket.take(150)
    bucket.fill(10.06, 1_000)
    assert bucket.level == pytest.approx(-40)
    bucket.fill(11.0, 1_000)
    assert bucket.level == 50


def test_what_is_small_is_drawn_well() -> None:
    assert Quantiser(0.05).choose(noise(32, 32), 0.0, RATE) == BEST


def test_what_had_to_be_coarse_becomes_finer_by_steps_as_the_bucket_allows() -> None:
    quantiser = Quantiser(0.05)
    coarse = quantiser.choose(noise(720, 1280), 0.0, RATE)
    assert coarse == WORST
    quantiser.made(30_000)
    assert quantiser.choose(NONE, 0.001, RATE) == coarse, "nothing may be sent yet"
    quantiser.made(100)
    assert quantiser.choose(NONE, 1.0, RATE) == coarse - FINER
    quantisers = [quantiser.choose(NONE, 2.0 + number, RATE) for number in range(12)]
    assert quantisers[-1] == BEST
    assert quantisers == sorted(quantisers, reverse=True)


def test_who_owes_more_than_the_coarsest_picture_saves_leaves_details_out() -> None:
    quantiser = Quantiser(0.05)
    for number in range(5):
        chosen = quantiser.choose(noise(720, 1280), number / 30, RATE)
        quantiser.made(60_000)
    assert chosen == DEBT


def test_what_turns_out_cheap_is_drawn_better() -> None:
    quantiser, seen = Quantiser(0.05), []
    for number in range(20):
        seen.append(quantiser.choose(noise(64, 640), number, RATE))
        quantiser.made(int(bytes_expected(64 * 640, detail(noise(64, 640)), seen[-1]) / 2))
    assert seen[-1] < seen[0]
