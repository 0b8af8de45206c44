"""Reads an installation medium, and writes the medium with the answers (ISO 9660 with Joliet names)."""

import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from vm_bridge.windows_image.errors import ImageError

LABEL = "PILOTHOUSE"
IMAGES = ("install.wim", "install.esd", "install.swm")
"""Below `sources`: what an installation medium of Windows installs."""
BOOT_PROGRAM = ("efi", "boot", "bootx64.efi")
"""What a medium for 64-bit PCs has."""


def check_windows_medium(path: Path) -> None:
    """Raises ImageError for a file that is no installation medium of 64-bit Windows."""
    if not path.is_file():
        raise ImageError("iso_missing", f"{path} is no file")
    import pycdlib  # only those who make an image need it
    from pycdlib.pycdlibexception import PyCdlibException

    medium = pycdlib.PyCdlib()
    try:
        medium.open(str(path))
    except (PyCdlibException, OSError) as error:
        raise ImageError("iso_not_windows", f"{path} is no medium: {error}") from error
    try:
        kind = "udf_path" if medium.has_udf() else "joliet_path" if medium.has_joliet() else "iso_path"
        has_image = any(_has(medium, kind, ("sources", image)) for image in IMAGES)
        if not has_image or not _has(medium, kind, BOOT_PROGRAM):
            wanted = f"sources/{' or '.join(IMAGES)} and {'/'.join(BOOT_PROGRAM)}"
            raise ImageError("iso_not_windows", f"{path} installs no 64-bit Windows: it lacks {wanted}")
    finally:
        medium.close()


def write_medium(path: Path, files: Mapping[str, bytes | Path]) -> None:
    """A medium with these files by their paths, whose folders are made."""
    import pycdlib

    medium = pycdlib.PyCdlib()
    medium.new(interchange_level=3, joliet=3, vol_ident=LABEL)
    opened: list[io.IOBase] = []
    try:
        for folder in sorted({name.rpartition("/")[0] for name in files} - {""}):
            medium.add_directory(f"/{_plain_name(folder)}", joliet_path=f"/{folder}")
        for number, (name, content) in enumerate(files.items()):
            folder = _plain_name(name.rpartition("/")[0])
            place = f"{f'/{folder}' if folder else ''}/F{number}.;1"
            if isinstance(content, Path):
                medium.add_file(str(content), place, joliet_path=f"/{name}")
            else:
                stream = io.BytesIO(content)
                opened.append(stream)
                medium.add_fp(stream, len(content), place, joliet_path=f"/{name}")
        medium.write(str(path))
    finally:
        medium.close()


def _plain_name(name: str) -> str:
    """A folder's name as plain ISO 9660 has it."""
    return name.upper()[:8]


def _has(medium: Any, kind: str, parts: Iterable[str]) -> bool:
    """Whether there is such a file, whatever the case of its name."""
    place = ""
    for part in parts:
        found = _entry(medium, kind, place or "/", part)
        if found is None:
            return False
        place = f"{place}/{found}"
    return True


def _entry(medium: Any, kind: str, folder: str, name: str) -> str | None:
    for child in medium.list_children(**{kind: folder}):
        if child is None:
            continue  # UDF's entry for the folder above
        found = child.file_identifier()
        encoding = "utf-16_be" if kind == "joliet_path" else "utf-8"
        text = found.decode(encoding, "replace") if isinstance(found, bytes) else str(found)
        if text.partition(";")[0].removesuffix(".").casefold() == name:
            return text
    return None
