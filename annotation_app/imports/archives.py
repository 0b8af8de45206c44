"""Opening what was uploaded: a zip, a tar, or lines; nothing in it may choose where it lies or how much there is."""

import re
import shutil
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO
from zlib import error as ZlibError

from protocol.trajectory.export_folders import UNFINISHED_SUFFIX

LINES_NAME = "rows.jsonl"
"""What lines are called that came without an archive."""
SINGLE_ROW_NAME = "row.json"
"""What a trajectory is called that came without an archive and takes several lines."""
MAX_MEMBERS = 500_000
MAX_DEPTH = 32
MAX_NAME_BYTES = 255
MAX_RATIO = 200
"""How many bytes one byte of an archive may become, once there are `SMALL` of them."""
RATIO_FREE_BYTES = 64 * 1024 * 1024
CHUNK_BYTES = 1 << 20
BINARY_PATTERN = re.compile(rb"\A(PK\x03\x04|PK\x05\x06|Rar!|7z\xbc\xaf)|\x00")
"""What no lines of JSON have: the beginnings of archives, and NUL."""


class InvalidImport(ValueError):
    """What was uploaded cannot be opened, or must not be; `code` is stable."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class _Member:
    """A file of an archive: what it is called there, and its bytes."""

    name: str
    open: IO[bytes]


def unpack_archive(archive: Path, target: Path, *, most: int) -> None:
    """Put the files of an archive under `target`, `most` bytes of them at the most; the folder appears when it is
    whole. Raises Unfit and OSError."""
    aside = target.with_name(target.name + UNFINISHED_SUFFIX)
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    try:
        if zipfile.is_zipfile(archive):
            _write_members(_zip_members(archive), aside, archive.stat().st_size, most)
        elif _is_tar(archive):
            _write_members(_tar_members(archive), aside, archive.stat().st_size, most)
        else:
            with archive.open("rb") as file:
                begin = file.read(CHUNK_BYTES)
                if BINARY_PATTERN.search(begin):
                    raise InvalidImport("archive_broken", "It is no whole zip, no tar and no lines of JSON.")
                file.seek(0)
                name = SINGLE_ROW_NAME if begin.split(b"\n", 1)[0].strip() == b"{" else LINES_NAME
                _write_members(iter([_Member(name, file)]), aside, archive.stat().st_size, most)
    except (zipfile.BadZipFile, tarfile.TarError, ZlibError, EOFError, NotImplementedError, RuntimeError) as error:
        raise InvalidImport("archive_broken", f"The archive cannot be read: {error}") from None
    aside.rename(target)


def _is_tar(archive: Path) -> bool:
    """Whether it begins as a tar; an empty file counts as lines."""
    return archive.stat().st_size > 0 and tarfile.is_tarfile(archive)


def safe_path(name: str) -> PurePosixPath:
    """Where a file of this name may lie. Raises Unfit for one that leads elsewhere."""
    path = PurePosixPath(name.replace("\\", "/"))
    parts = path.parts
    wrong = (
        not parts
        or path.is_absolute()
        or ".." in parts
        or ":" in parts[0]
        or len(parts) > MAX_DEPTH
        or any(len(part.encode(errors="replace")) > MAX_NAME_BYTES for part in parts)
        or any(ord(letter) < 32 for letter in name)
    )
    if wrong:
        raise InvalidImport("archive_name", f"The archive holds a file whose name leads elsewhere: {name[:200]!r}")
    return path


def _write_members(members: Iterator[_Member], target: Path, packed: int, most: int) -> None:
    allowed = min(most, max(RATIO_FREE_BYTES, packed * MAX_RATIO))
    total = 0
    for count, member in enumerate(members, start=1):
        if count > MAX_MEMBERS:
            raise InvalidImport("archive_too_large", f"The archive holds more than {MAX_MEMBERS} files.")
        path = target / safe_path(member.name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file:
                while chunk := member.open.read(CHUNK_BYTES):
                    total += len(chunk)
                    if total > allowed:
                        raise InvalidImport("archive_too_large", f"Unpacked it has more than {allowed} bytes.")
                    file.write(chunk)
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            raise InvalidImport(
                "archive_name", f"The archive holds two files of one name: {member.name[:200]!r}"
            ) from None


def _zip_members(archive: Path) -> Iterator[_Member]:
    with zipfile.ZipFile(archive) as whole:
        for entry in whole.infolist():
            kind = stat.S_IFMT(entry.external_attr >> 16)
            if entry.is_dir():
                continue
            if kind not in (0, stat.S_IFREG):
                raise _not_regular_error(entry.filename)
            if entry.flag_bits & 1:
                raise InvalidImport("archive_encrypted", "The archive is encrypted.")
            with whole.open(entry) as file:
                yield _Member(entry.filename, file)


def _tar_members(archive: Path) -> Iterator[_Member]:
    with tarfile.open(archive, "r|*") as whole:
        for entry in whole:
            if entry.isdir():
                continue
            if not entry.isreg():
                raise _not_regular_error(entry.name)
            file = whole.extractfile(entry)
            assert file is not None, "a regular file has bytes"
            yield _Member(entry.name, file)
            whole.members = []  # type: ignore[attr-defined]  # it would remember every one


def _not_regular_error(name: str) -> InvalidImport:
    return InvalidImport("archive_link", f"The archive holds something that is no plain file: {name[:200]!r}")
