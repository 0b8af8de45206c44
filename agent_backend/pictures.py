"""Opens untrusted pictures: few formats, bounded sizes, and one error for every fault."""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from PIL import Image, UnidentifiedImageError

PICTURE_FORMATS = {"JPEG": "image/jpeg", "PNG": "image/png"}
"""Formats that are read, and their media types. Pillow's readers of all others are never reached."""
MAX_PIXELS = 40_000_000
"""Largest picture: more than four screens of 4K. A small file may unpack to gigabytes."""


class PictureUnreadable(Exception):
    """No picture of these formats, too large, cut short or damaged."""


@contextmanager
def open_picture(data: bytes) -> Iterator[Image.Image]:
    """Open a picture for reading or decoding. Raises PictureUnreadable, also for errors of decoding inside the
    block."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=tuple(PICTURE_FORMATS)) as image:
                if image.width * image.height > MAX_PIXELS:
                    raise PictureUnreadable(f"{image.width} by {image.height} pixels are too many")
                yield image
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise PictureUnreadable("it has too many pixels") from error
    except UnidentifiedImageError as error:
        raise PictureUnreadable("it is no JPEG and no PNG") from error
    except (OSError, ValueError, SyntaxError) as error:
        raise PictureUnreadable(f"it is damaged: {error}") from error


def describe_picture(data: bytes) -> tuple[str, int, int]:
    """Media type, width and height of a complete picture. Raises PictureUnreadable."""
    with open_picture(data) as image:
        kind = PICTURE_FORMATS.get(image.format or "")
        if kind is None:  # several JPEGs in one file, for example
            raise PictureUnreadable(f"{image.format} is not read")
        described = kind, image.width, image.height
        if image.format == "PNG":
            image.verify()  # all parts, by their checksums
        else:
            image.draft("L", (1, 1))  # decodes to the end, at an eighth of the size
            image.load()
    return described
