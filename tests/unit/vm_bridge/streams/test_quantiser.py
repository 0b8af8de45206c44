"""How coarsely a picture is drawn: as finely as what may be sent allows, and finer by steps once it rests."""

import numpy as np
import pytest

from vm_bridge.streams.quantiser import (
    COARSEST,
    FINEST,
    OVERDRAWN,
    REFINE_STEP,
    Quantiser,
    TokenBucket,
    estimate_bytes,
    finest_quantiser,
    measure_detail,
)

RATE = 750_000.0
"""Bytes a second."""
NONE = np.empty((0, 0), np.uint8)


def noise(height: int, width: int) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    return np.random.default_rng(height).integers(0, 256, (height, width), np.uint8)


def test_detail_is_the_mean_step_from_pixel_to_pixel() -> None:
    assert measure_detail(np.full((64, 64), 90, np.uint8)) == 0
    stripes = np.tile(np.array([0, 200], np.uint8), (64, 32))
    assert measure_detail(stripes) == 200
    assert measure_detail(np.zeros((5, 1), np.uint8)) == 0


def test_the_finest_is_chosen_that_fits() -> None:
    chosen = finest_quantiser(100_000, 20.0, 12_000)
    assert FINEST < chosen < COARSEST
    assert estimate_bytes(100_000, 20.0, chosen) <= 12_000 < estimate_bytes(100_000, 20.0, chosen - 1)
    assert finest_quantiser(100_000, 20.0, 1e9) == FINEST
    assert finest_quantiser(100_000, 20.0, 1) == COARSEST


def test_a_bucket_fills_at_the_rate_up_to_a_burst() -> None:
    bucket = TokenBucket(0.05)
    bucket.fill(10.0, 1_000)
    assert bucket.level == bucket.burst == 50
    bucket.take(150)
    bucket.fill(10.06, 1_000)
    assert bucket.level == pytest.approx(-40)
    bucket.fill(11.0, 1_000)
    assert bucket.level == 50


def test_what_is_small_is_drawn_well() -> None:
    assert Quantiser(0.05).choose(noise(32, 32), 0.0, RATE) == FINEST


def test_what_had_to_be_coarse_becomes_finer_by_steps_as_the_bucket_allows() -> None:
    quantiser = Quantiser(0.05)
    coarse = quantiser.choose(noise(720, 1280), 0.0, RATE)
    assert coarse == COARSEST
    quantiser.record_size(30_000)
    assert quantiser.choose(NONE, 0.001, RATE) == coarse, "nothing may be sent yet"
    quantiser.record_size(100)
    assert quantiser.choose(NONE, 1.0, RATE) == coarse - REFINE_STEP
    quantisers = [quantiser.choose(NONE, 2.0 + number, RATE) for number in range(12)]
    assert quantisers[-1] == FINEST
    assert quantisers == sorted(quantisers, reverse=True)


def test_who_owes_more_than_the_coarsest_picture_saves_leaves_details_out() -> None:
    quantiser = Quantiser(0.05)
    for number in range(5):
        chosen = quantiser.choose(noise(720, 1280), number / 30, RATE)
        quantiser.record_size(60_000)
    assert chosen == OVERDRAWN


def test_what_turns_out_cheap_is_drawn_better() -> None:
    quantiser, seen = Quantiser(0.05), []
    for number in range(20):
        seen.append(quantiser.choose(noise(64, 640), number, RATE))
        quantiser.record_size(int(estimate_bytes(64 * 640, measure_detail(noise(64, 640)), seen[-1]) / 2))
    assert seen[-1] < seen[0]
