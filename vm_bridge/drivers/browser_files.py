"""Bytes that were handed over for a browser's pages, kept as long as an episode may have to be made again from them."""

import shutil
from contextlib import suppress
from pathlib import Path

from vm_bridge.errors import InvalidAction
from vm_bridge.inside import check_size
from vocabulary.actions import MAX_FILE
from vocabulary.blobs import BlobRef

MOST = 4 * MAX_FILE
"""Bytes kept for one episode."""


class Staged:
    """By their content; in a `folder` a later process finds them."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._sizes: dict[str, int] = {}
        self._held: dict[str, bytes] = {}
        """Where there is no folder."""
        if folder is not None and folder.is_dir():
            self._sizes = {path.name: path.stat().st_size for path in folder.iterdir() if not path.suffix}

    def keep(self, data: bytes, media_type: str) -> BlobRef:
        """Raises InvalidAction when they are too many."""
        check_size(data)
        ref = BlobRef.of(data, media_type)
        if ref.sha256 in self._sizes:
            return ref
        if sum(self._sizes.values()) + len(data) > MOST:
            raise InvalidAction(f"an episode's files may have {MOST} bytes together")
        self._write(ref.sha256, data)
        self._sizes[ref.sha256] = len(data)
        return ref

    def find(self, ref: BlobRef) -> bytes | None:
        """The bytes, where they were handed over in this episode."""
        if self._folder is None:
            return self._held.get(ref.sha256)
        with suppress(FileNotFoundError):
            return (self._folder / ref.sha256).read_bytes()
        return None

    def forget(self) -> None:
        """Another episode begins."""
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
