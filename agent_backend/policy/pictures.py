"""Scales pictures down to the size in which a hosted model counts its points."""

import asyncio
import io
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable

from PIL import Image

from agent_backend.errors import PolicyError
from agent_backend.pictures import PictureUnreadable, open_picture
from agent_backend.policy.hosted_requests import Picture
from protocol.blobs import BlobRef
from protocol.dialects.coordinates import CoordinateGrid
from protocol.dialects.dialect import ScreenSize

CACHE_SIZE = 16
"""Scaled pictures in the cache: a conversation shows most of them again at the next step."""
MAX_SIDE = 32_768


class PictureScaler:
    """Reads pictures and scales those down that are larger than a model takes."""

    def __init__(self, grid: CoordinateGrid) -> None:
        self._grid = grid
        self._ready: OrderedDict[str, Picture] = OrderedDict()

    async def pictures(
        self, refs: Iterable[BlobRef], read: Callable[[BlobRef], Awaitable[bytes]]
    ) -> dict[str, Picture]:
        """Pictures by the digests of what they were made of. Raises PolicyError for one that is lost."""
        found: dict[str, Picture] = {}
        for ref in refs:
            picture = self._ready.get(ref.sha256)
            if picture is None:
                try:
                    data = await read(ref)
                except KeyError:
                    raise PolicyError("a screenshot of this episode is lost, so the policy cannot propose") from None
                picture = await asyncio.to_thread(scale_picture, data, ref.media_type, self._grid)
            self._ready[ref.sha256] = found[ref.sha256] = picture
            self._ready.move_to_end(ref.sha256)
        while len(self._ready) > CACHE_SIZE:
            self._ready.popitem(last=False)
        return found


def scale_picture(data: bytes, media_type: str, grid: CoordinateGrid) -> Picture:
    """A picture in the size of the grid; one that has it already, or that cannot be read, stays as it is."""
    try:
        with open_picture(data) as image:
            width, height = image.size
            size = grid(ScreenSize(width=width, height=height)) if 0 < max(width, height) <= MAX_SIDE else image.size
            if size == image.size:
                return Picture(media_type, data)
            written_format = "JPEG" if image.format == "JPEG" else "PNG"
            small = io.BytesIO()
            image.convert("RGB").resize(size, Image.Resampling.LANCZOS).save(small, written_format, quality=92)
            return Picture(f"image/{written_format.lower()}", small.getvalue())
    except PictureUnreadable:
        return Picture(media_type, data)
