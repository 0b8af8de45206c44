"""Pictures encoded in stripes: the same pixels as at once, and the same bytes whatever was before."""

import numpy as np
import pytest
import simplejpeg

from vm_bridge.drivers.computer.frames import MEMORY_BYTES, GuestScreen, ScreenshotStore, SharedFrameMemory
from vm_bridge.drivers.computer.guest_link import FrameRef
from vm_bridge.drivers.image_encoding import STRIPE_ROWS, Image, encode_image, encode_stripes
from vm_bridge.sandbox import Box

SIZES = ((1280, 720), (1366, 769), (200, 200), (1920, 1080), (64, STRIPE_ROWS), (65, STRIPE_ROWS + 1))


def screen_of(width: int, height: int) -> Image:
    """Something that leaves no block alike."""
    return np.random.default_rng(width * height).integers(0, 256, (height, width, 4), np.uint8)


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_pixels_are_those_of_the_picture_encoded_at_once(width: int, height: int) -> None:
    image = screen_of(width, height)
    at_once, striped = encode_image(image, "jpeg"), encode_stripes(image).file
    assert np.array_equal(simplejpeg.decode_jpeg(striped), simplejpeg.decode_jpeg(at_once))


@pytest.mark.parametrize("changed", [(600, 100, 640, 130), (0, 0, 1920, 1080), (0, 1079, 1, 1080), (5, 63, 9, 65)])
def test_what_is_taken_over_gives_the_same_bytes(changed: Box) -> None:
    image = screen_of(1920, 1080)
    before = encode_stripes(image)
    left, top, right, bottom = changed
    image[top:bottom, left:right] = 7
    after = encode_stripes(image, before, changed)
    assert after.file == encode_stripes(image).file != before.file


def test_only_stripes_that_changed_are_encoded() -> None:
    image = screen_of(640, 480)
    before = encode_stripes(image)
    after = encode_stripes(image, before, (10, 70, 20, 80))
    assert [new is old for new, old in zip(after.stripes, before.stripes, strict=True)] == [
        number != 1 for number in range(8)
    ]


@pytest.mark.parametrize("senseless", [(-5, -9, 90000, 70000), (0, 300, 10, 100), (0, 4000, 10, 5000)])
def test_senseless_boxes_do_no_harm(senseless: Box) -> None:
    image = screen_of(640, 480)
    assert encode_stripes(image, encode_stripes(image), senseless).file == encode_stripes(image).file


class Camera:
    """Looks into shared memory, as a guest would give them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.pixels = bytearray(MEMORY_BYTES // 100)
        monkeypatch.setattr(SharedFrameMemory, "pixels", lambda _, slot, size: memoryview(self.pixels)[:size])
        self.pictures = ScreenshotStore()
        self.pictures.attach(GuestScreen(SharedFrameMemory(SharedFrameMemory.make()), 320, 240))

    async def store(self, serial: int, shade: int, changed: Box | None) -> bytes:
        """The bytes of a picture of one shade."""
        self.pixels[: 320 * 240 * 4] = bytes([shade]) * (320 * 240 * 4)
        look = FrameRef(serial=serial, slot=0, at=1.0, changed=changed)
        return self.pictures.read_blob(await self.pictures.store(look))


async def test_a_picture_whose_forerunner_was_not_encoded_is_encoded_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    camera, corner = Camera(monkeypatch), (0, 0, 8, 8)
    await camera.store(1, 10, None)
    assert _shades(await camera.store(2, 90, corner)) == [90, 10]
    assert _shades(await camera.store(4, 200, corner)) == [200]
    camera.pictures.attach(GuestScreen(SharedFrameMemory(SharedFrameMemory.make()), 320, 240))
    assert _shades(await camera.store(5, 30, corner)) == [30]


def _shades(file: bytes) -> list[int]:
    """From top to bottom."""
    column = simplejpeg.decode_jpeg(file, colorspace="GRAY")[:, 0, 0]
    return [int(column[row]) for row in range(len(column)) if row == 0 or column[row] != column[row - 1]]
