"""Pictures that show the same, and such that do not."""

import numpy as np
import pytest

from vm_bridge.drivers.image_encoding import Image, encode_image
from vm_bridge.drivers.task_parameters import ImageFormat
from vm_bridge.image_similarity import MAX_DIFFERENT_SHARE, picture_difference


@pytest.fixture
def screen() -> Image:
    image = np.zeros((720, 1280, 4), np.uint8)
    image[:, :, 0] = np.arange(1280) // 8
    image[200:400, 300:700] = 230
    return image


@pytest.mark.parametrize("form", ["jpeg", "png"])
def test_the_same_picture(screen: Image, form: ImageFormat) -> None:
    file = encode_image(screen, form)
    assert picture_difference(file, file) == 0
    assert picture_difference(encode_image(screen, "png"), encode_image(screen, "jpeg")) <= MAX_DIFFERENT_SHARE


@pytest.mark.parametrize("form", ["jpeg", "png"])
def test_a_caret_is_no_difference_and_a_word_is(screen: Image, form: ImageFormat) -> None:
    before = encode_image(screen, form)
    screen[300:316, 400:402] = 0
    assert 0 < picture_difference(before, encode_image(screen, form)) <= MAX_DIFFERENT_SHARE
    screen[300:316, 400:480] = 0
    assert picture_difference(before, encode_image(screen, form)) > MAX_DIFFERENT_SHARE


def test_another_size_is_another_picture(screen: Image) -> None:
    assert picture_difference(encode_image(screen, "png"), encode_image(screen[:600], "png")) == 1
