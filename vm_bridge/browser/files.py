"""Files that a page may be given where it asks for some: the browser itself sees none of this machine's."""

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
    """A page's question for files."""

    field: int
    """The element that asks, as the browser numbers it."""
    several: bool
    """Whether it takes more than one."""


def media_type_of(name: str) -> str:
    """By the end of its name, as browsers tell pages."""
    return mimetypes.guess_type(name, strict=True)[0] or DEFAULT_MEDIA_TYPE


def read_files(folder: Path) -> tuple[FilePayload, ...]:
    """The files of a folder, by name; none where there is no folder."""
    found = sorted(path for path in folder.iterdir() if path.is_file()) if folder.is_dir() else []
    return tuple(FilePayload(path.name, media_type_of(path.name), path.read_bytes()) for path in found)
