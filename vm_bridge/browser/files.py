"""Files that a page may get from its file chooser. The browser sees none of this machine's files."""

import mimetypes
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

DEFAULT_MEDIA_TYPE = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class FilePayload:
    """One file; `name` is what pages see."""

    name: str
    media_type: str
    data: bytes


class FileChooserRequest(NamedTuple):
    """A page's file chooser request."""

    field: int
    """Backend node id of the requesting element."""
    several: bool
    """Whether it takes more than one."""


def media_type_of(name: str) -> str:
    """The media type by file extension, as browsers report it to pages."""
    return mimetypes.guess_type(name, strict=True)[0] or DEFAULT_MEDIA_TYPE


def read_files(folder: Path) -> tuple[FilePayload, ...]:
    """The files of a folder, by name; empty if the folder is missing."""
    found = sorted(path for path in folder.iterdir() if path.is_file()) if folder.is_dir() else []
    return tuple(FilePayload(path.name, media_type_of(path.name), path.read_bytes()) for path in found)
