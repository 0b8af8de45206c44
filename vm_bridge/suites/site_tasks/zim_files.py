"""ZIM files: the offline format of Wikipedia and other wikis (openzim.org, *ZIM file format*). Only the header is read
here; everything else is read by `kiwix-serve`."""

import hashlib
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from protocol.site_tasks import ZimSite
from vm_bridge.config import zim_folder
from vm_bridge.errors import UnsupportedTask

MAGIC = 0x044D495A
HEADER = struct.Struct("<IHH16sIIQQQQIIQ")
"""Magic, version (two numbers), UUID, entries, clusters, four positions, main and layout page, the checksum's place."""
CHECKSUM_BYTES = 16
CHUNK = 1 << 20
ZimFault = Literal["kiwix_missing", "kiwix_failed", "zim_missing", "zim_damaged", "zim_differs", "zim_no_search"]
"""zim_missing: this host has no such file; zim_differs: it has another one of this name; zim_no_search: the file has no
full-text index."""


class ZimUnusable(UnsupportedTask):
    """A ZIM file cannot be served here. `fault` is for programs; the message says what to do."""

    def __init__(self, fault: ZimFault, message: str) -> None:
        super().__init__(f"{fault}: {message}")
        self.fault = fault


@dataclass(frozen=True, slots=True)
class ZimFile:
    """A file with its UUID (32 hexadecimal digits), which every file that is made has of its own."""

    path: Path
    uuid: str
    entries: int
    checksum_at: int
    """Where its checksum begins (bytes)."""

    @property
    def reference(self) -> ZimSite:
        """As tasks name it."""
        return ZimSite(file=self.path.name, uuid=self.uuid)

    def verify(self) -> None:
        """Compare the file with its own checksum (MD5), which reads all of it. Raises ZimUnusable (`zim_damaged`)."""
        digest, left = hashlib.md5(usedforsecurity=False), self.checksum_at
        with self.path.open("rb") as file:
            while left and (chunk := file.read(min(CHUNK, left))):
                digest.update(chunk)
                left -= len(chunk)
            if digest.digest() != file.read(CHECKSUM_BYTES):
                raise ZimUnusable("zim_damaged", f"{self.path.name} differs from its own checksum; fetch it again")


def read_zim(path: Path) -> ZimFile:
    """A file by its header. Raises ZimUnusable: `zim_missing`, `zim_damaged` (no ZIM file, or cut short)."""
    try:
        with path.open("rb") as file:
            head = file.read(HEADER.size)
        size = path.stat().st_size
    except OSError as error:
        raise ZimUnusable("zim_missing", f"{path} cannot be read: {error.strerror}") from error
    if len(head) < HEADER.size or HEADER.unpack(head)[0] != MAGIC:
        raise ZimUnusable("zim_damaged", f"{path.name} is no ZIM file")
    _, _, _, uuid, entries, *_, checksum_at = HEADER.unpack(head)
    if checksum_at + CHECKSUM_BYTES != size:
        raise ZimUnusable("zim_damaged", f"{path.name} is cut short, or one part of several; join or fetch it again")
    return ZimFile(path.resolve(), uuid.hex(), entries, checksum_at)


def find_zim(site: ZimSite, environment: Mapping[str, str] = os.environ) -> ZimFile:
    """The file of a task in `PILOTHOUSE_ZIM_FOLDER`. Raises ZimUnusable: `zim_missing`, `zim_damaged`, `zim_differs`;
    ConfigError."""
    folder = zim_folder(environment)
    if folder is None:
        raise ZimUnusable("zim_missing", f"put {site.file} into a folder and name it in PILOTHOUSE_ZIM_FOLDER")
    found = read_zim(folder / site.file)
    if found.uuid != site.uuid:
        raise ZimUnusable("zim_differs", f"{site.file} is another edition than the one the task was made of")
    return found
