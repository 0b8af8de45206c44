"""Files on their way into a sandbox and out of it, held for the calls that name them."""

from collections import OrderedDict

from vm_bridge.errors import InvalidAction
from vm_bridge.inside import check_size
from vocabulary.actions import MAX_FILE
from vocabulary.blobs import BlobRef

MAX_HELD = 2 * MAX_FILE
"""Most bytes held at once each way; the oldest go first."""


class Cargo:
    """Bytes by their content, bounded."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, bytes] = OrderedDict()

    def keep(self, data: bytes, media_type: str) -> BlobRef:
        """Hold bytes. Raises InvalidAction when they are too many."""
        check_size(data)
        ref = BlobRef.of(data, media_type)
        self._held[ref.sha256] = data
        self._held.move_to_end(ref.sha256)
        while sum(map(len, self._held.values())) > MAX_HELD:
            self._held.popitem(last=False)
        return ref

    def need(self, ref: BlobRef) -> bytes:
        """The bytes. Raises InvalidAction when they are not held."""
        data = self.find(ref)
        if data is None:
            raise InvalidAction("the bytes of this file were not staged, or are no longer kept")
        return data

    def find(self, ref: BlobRef) -> bytes | None:
        """The bytes, if they are still held."""
        return self._held.get(ref.sha256)
