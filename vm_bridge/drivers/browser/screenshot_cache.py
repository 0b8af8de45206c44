"""Keeps the last pictures of a browser for requests by digest."""

from collections import OrderedDict

from protocol.blobs import BlobRef
from vm_bridge.errors import UnknownBlob

MAX_SCREENSHOTS = 48


class ScreenshotCache:
    """The latest `MAX_SCREENSHOTS` pictures."""

    def __init__(self) -> None:
        self._bytes: OrderedDict[str, bytes] = OrderedDict()

    def keep(self, data: bytes, media_type: str) -> BlobRef:
        """Store a picture. Returns its reference."""
        ref = BlobRef.of(data, media_type)
        self._bytes[ref.sha256] = data
        self._bytes.move_to_end(ref.sha256)
        while len(self._bytes) > MAX_SCREENSHOTS:
            self._bytes.popitem(last=False)
        return ref

    def read(self, ref: BlobRef) -> bytes:
        """Raises UnknownBlob."""
        try:
            return self._bytes[ref.sha256]
        except KeyError:
            raise UnknownBlob(f"blob {ref.sha256} is no longer kept") from None

    def forget(self) -> None:
        """Discard all pictures."""
        self._bytes.clear()
