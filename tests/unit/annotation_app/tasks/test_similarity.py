"""Likeness: a picture encoded anew is the same, another window is not; texts that share most are found."""

import io

import numpy as np
from PIL import Image

from annotation_app.reviews.similarity import (
    candidates,
    fingerprint,
    frame_shingles,
    is_same_picture,
    jaccard,
    picture_similarity,
    screen_similarity,
)


def picture(*, window: tuple[int, int], quality: int = 90) -> bytes:
    """A grey screen with stripes and a window on it."""
    pixels = np.full((720, 1280), 90, dtype=np.uint8)
    pixels[:, ::160] = 140
    x, y = window
    pixels[y : y + 240, x : x + 400] = 230
    made = io.BytesIO()
    Image.fromarray(pixels).save(made, "JPEG", quality=quality)
    return made.getvalue()


def printed(data: bytes) -> int:
    found = fingerprint(data)
    assert found is not None
    return found


def test_a_picture_encoded_anew_is_the_same_and_another_window_is_not() -> None:
    one, again, other = picture(window=(100, 100)), picture(window=(100, 100), quality=60), picture(window=(700, 400))
    assert is_same_picture(printed(one), printed(again))
    assert not is_same_picture(printed(one), printed(other))
    likeness = picture_similarity(one, again)
    assert likeness is not None
    assert likeness > 0.95


def test_what_is_no_picture_has_no_fingerprint() -> None:
    assert fingerprint(b"not a picture") is None
    assert picture_similarity(b"not a picture", picture(window=(1, 1))) is None


def test_frames_are_compared_place_by_place() -> None:
    assert screen_similarity([1, 2, 1 << 200], [1, 2, 1 << 200]) == 1.0
    assert screen_similarity([0, 0], [0]) == 0.5
    assert screen_similarity([1], [2]) == 0.0
    assert screen_similarity([], [1]) is None


def test_frames_full_of_edges_are_candidates() -> None:
    drawn = np.random.default_rng(1)
    noise = [io.BytesIO() for _ in range(2)]
    for file in noise:
        Image.fromarray(drawn.integers(0, 255, (240, 320), dtype=np.uint8).repeat(8, 0).repeat(8, 1)).save(file, "PNG")
    one, other = (frame_shingles([printed(file.getvalue())]) for file in noise)
    assert list(candidates([one, other, one])) == [(0, 2)]


def test_nearly_the_same_texts_are_candidates_and_strangers_are_not() -> None:
    said = [frozenset(range(1_000)), frozenset(range(50, 1_000)), frozenset(range(10_000, 11_000)), frozenset[int]()]
    assert list(candidates(said)) == [(0, 1)]
    assert jaccard(said[0], said[1]) == 0.95
    assert jaccard(said[0], said[2]) == 0.0
    assert jaccard(said[3], said[3]) == 0.0
