"""Files on their way into and out of a machine, held for the actions that name them."""

import shutil
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path

from protocol.actions.types import MAX_FILE
from protocol.blobs import BlobRef
from vm_bridge.errors import InvalidAction
from vm_bridge.machine_io import check_file_size

MAX_EPISODE_BYTES = 4 * MAX_FILE
"""Maximum bytes kept for one episode."""


class EpisodeFileStaging:
    """Files by digest. With a `folder`, a later process finds them."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._sizes: dict[str, int] = {}
        self._held: dict[str, bytes] = {}
        """Used without a folder."""
        if folder is not None and folder.is_dir():
            self._sizes = {path.name: path.stat().st_size for path in folder.iterdir() if not path.suffix}

    def keep(self, data: bytes, media_type: str) -> BlobRef:
        """Raises InvalidAction if the files exceed the limit."""
        check_file_size(data)
        ref = BlobRef.of(data, media_type)
        if ref.sha256 in self._sizes:
            return ref
        if sum(self._sizes.values()) + len(data) > MAX_EPISODE_BYTES:
            raise InvalidAction(f"an episode's files may have {MAX_EPISODE_BYTES} bytes together")
        self._write(ref.sha256, data)
        self._sizes[ref.sha256] = len(data)
        return ref

    def find(self, ref: BlobRef) -> bytes | None:
        """The bytes, if they were staged in this episode."""
        if self._folder is None:
            return self._held.get(ref.sha256)
        with suppress(FileNotFoundError):
            return (self._folder / ref.sha256).read_bytes()
        return None

    def forget(self) -> None:
        """Discard all files at the start of another episode."""
        self._sizes.clear()
        self._held.clear()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _write(self, name: str, data: bytes) -> None:
        if self._folder is None:
            self._held[name] = data
            return
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = self._folder / f"{name}.writing"
        fresh.write_bytes(data)
        fresh.rename(self._folder / name)


MAX_STAGED_BYTES = 2 * MAX_FILE
"""Maximum bytes held at once in each direction; the oldest are evicted first."""


class FileStaging:
    """Bytes by digest, bounded."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, bytes] = OrderedDict()

    def keep(self, data: bytes, media_type: str) -> BlobRef:
        """Store bytes. Raises InvalidAction if they exceed the limit."""
        check_file_size(data)
        ref = BlobRef.of(data, media_type)
        self._held[ref.sha256] = data
        self._held.move_to_end(ref.sha256)
        while sum(map(len, self._held.values())) > MAX_STAGED_BYTES:
            self._held.popitem(last=False)
        return ref

    def need(self, ref: BlobRef) -> bytes:
        """The bytes. Raises InvalidAction if they are not stored."""
        data = self.find(ref)
        if data is None:
            raise InvalidAction("the bytes of this file were not staged, or are no longer kept")
        return data

    def find(self, ref: BlobRef) -> bytes | None:
        """The bytes, if they are still held."""
        return self._held.get(ref.sha256)
