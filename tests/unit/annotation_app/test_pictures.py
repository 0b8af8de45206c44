"""Pictures from elsewhere: two formats are read, and bombs, damaged files and files cut short are one error."""

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from agent_backend.episode.machine_session import crop_screenshot
from agent_backend.pictures import PictureUnreadable, describe_picture
from agent_backend.policy.hosted_requests import Picture
from agent_backend.policy.pictures import scale_picture
from annotation_app.reviews.similarity import fingerprint
from protocol.actions.types import Point, Zoom
from vm_bridge.drivers.osworld.guest_client import decode_image
from vm_bridge.drivers.remote.errors import TransportError


def encoded(form: str) -> bytes:
    made = io.BytesIO()
    pixels = np.random.default_rng(1).integers(0, 255, (48, 64, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(made, form)
    return made.getvalue()


def bomb(width: int, height: int) -> bytes:
    """A PNG of a few bytes that says it has so many pixels."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")


def broken(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]


UNREADABLE = {
    "nothing": b"",
    "text": b"not a picture",
    **{form: encoded(form) for form in ("GIF", "BMP", "TIFF", "WEBP", "ICO", "PPM", "PCX", "TGA")},
    "EPS": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\n",
    "a bomb": bomb(60_000, 60_000),
    "a bomb of which Pillow only warns": bomb(10_000, 9_500),
    "a picture of too many pixels": bomb(9_000, 9_000),
    **{f"{form} cut short": encoded(form)[: len(encoded(form)) // 2] for form in ("PNG", "JPEG")},
    "a PNG without its end": encoded("PNG")[:-20],
    "a PNG with another byte": broken(encoded("PNG"), 200),
}


@pytest.mark.parametrize("form", ["PNG", "JPEG"])
def test_a_picture_is_described(form: str) -> None:
    assert describe_picture(encoded(form)) == (f"image/{form.lower()}", 64, 48)


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_used_is_one_error(name: str) -> None:
    with pytest.raises(PictureUnreadable):
        describe_picture(UNREADABLE[name])


@pytest.mark.parametrize("name", ["text", "GIF", "a bomb", "a picture of too many pixels", "JPEG cut short"])
def test_what_cannot_be_decoded_has_no_fingerprint(name: str) -> None:
    assert fingerprint(UNREADABLE[name]) is None


@pytest.mark.parametrize("name", [name for name in UNREADABLE if "byte" not in name and "end" not in name])
def test_a_guest_s_picture_is_read_with_the_same_care(name: str) -> None:
    with pytest.raises(TransportError):
        decode_image(UNREADABLE[name])


DECODED = [name for name in UNREADABLE if "byte" not in name and "end" not in name]
"""What decoding finds; checksums are checked only where a file is taken in."""


@pytest.mark.parametrize("name", DECODED)
def test_a_hosted_model_is_sent_such_a_picture_unread(name: str) -> None:
    data = UNREADABLE[name]
    assert scale_picture(data, "image/png", lambda _: (16, 12)) == Picture("image/png", data)


@pytest.mark.parametrize("name", DECODED)
def test_no_part_of_such_a_picture_is_enlarged(name: str) -> None:
    part = Zoom(start=Point(x=1, y=1), end=Point(x=9, y=9))
    with pytest.raises(PictureUnreadable):
        crop_screenshot(UNREADABLE[name], part, (64, 48))
