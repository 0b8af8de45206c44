"""A folder that is taken in: its rows in one fixed order, and the pictures that lie beside them."""

import errno
import hashlib
import json
import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from agent_backend.pictures import PICTURE_FORMATS, PictureUnreadable, describe_picture
from annotation_app.blobs.selectors import blob_path
from annotation_app.blobs.services import BLOB_LIMIT_BYTES, blob_write
from annotation_app.imports.archives import InvalidImport, safe_path
from protocol.base import find_json_error
from protocol.blobs import BlobRef
from protocol.formats.records import RowError
from protocol.formats.row_readers import SourceImage
from protocol.trajectory.export_folders import (
    EXTENSIONS,
    IMAGES,
    MANIFEST,
    image_path,
    trajectory_files,
    trajectory_images,
    trajectory_prompts,
)
from protocol.trajectory.trajectories import Trajectory

MAX_ROW_BYTES = 64 * 1024 * 1024
"""Bytes of one row."""
NON_ROW_FILES = frozenset({MANIFEST, "members.jsonl", "missing.jsonl", "refused.jsonl", "dataset_info.json"})
"""What exports have beside their rows."""
LINES_SUFFIXES = (".jsonl", ".ndjson")
SINGLE_ROW_SUFFIX = ".json"
"""A file that is one row."""
MAX_REASON_CHARACTERS = 500
TRAJECTORY_PATTERN = re.compile(rb'"(schema_version|traj|format)"\s*:')
"""What a file has that is a trajectory, or was to be one."""
SURROGATE_PATTERN = re.compile(rb"\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]")
"""Half of a surrogate pair, escaped or as bytes that are no UTF-8; JSON cannot hold one without the other."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
DIGEST_PATTERN = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, eq=False)
class LocatedRow:
    """One row where it stands: from `start` to `end` in its file (bytes). `fault` says why it is none."""

    file: str
    line: int
    start: int
    end: int
    value: dict[str, Any] | None = None
    fault: tuple[str, str] | None = None

    @cached_property
    def canonical(self) -> str:
        """Its values as JSON, the same whatever their spelling."""
        return json.dumps(self.value, sort_keys=True, separators=(",", ":"))


class SourceFolder:
    """What is taken in."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.stored_blobs: set[str] = set()
        """Digests of blobs that are known to be kept; none is deleted during an import."""

    @cached_property
    def files(self) -> list[str]:
        """The files that hold rows, by their path in the folder."""
        if self.root.is_file():
            return [self.root.name]
        found = (
            path.relative_to(self.root).as_posix()
            for path in self._regular_files()
            if path.suffix in (*LINES_SUFFIXES, SINGLE_ROW_SUFFIX)
            and path.name not in NON_ROW_FILES
            and path.parent.name != IMAGES
        )
        names = sorted(found)
        for name in names:
            if not _is_encodable(name):
                raise InvalidImport("archive_name", f"The name of a file of rows is not UTF-8: {name[:200]!r}")
        return names

    @property
    def size(self) -> int:
        """Bytes of the rows."""
        return self._sizes[1]

    def rows(self, file: str = "", offset: int = 0, line: int = 0) -> Iterator[LocatedRow]:
        """Every row after this place."""
        for name in self.files:
            if name < file:
                continue
            start = (offset, line) if name == file else (0, 0)
            yield from (
                self._single_row(name, start[0]) if name.endswith(SINGLE_ROW_SUFFIX) else self._lines(name, *start)
            )

    def bytes_before(self, file: str) -> int:
        """Bytes of the rows in the files before this one."""
        return self._sizes[0].get(file, 0)

    def picture(self, path: str, row: LocatedRow) -> Path:
        """The file that a row means by a path, or by a digest. Raises RowError."""
        if DIGEST_PATTERN.fullmatch(path):
            names = [f"{IMAGES}/{path}.{EXTENSIONS[kind]}" for kind in PICTURE_FORMATS.values()]
        else:
            try:
                names = [safe_path(path).as_posix()]
            except InvalidImport:
                raise RowError("picture_name", f"A picture's name leads elsewhere: {path[:200]!r}") from None
        row_folder = Path(row.file).parent.as_posix()
        for found in (
            f"{folder_path}/{name}".removeprefix("./") for name in names for folder_path in (row_folder, ".", IMAGES)
        ):
            if found in self._regular_file_names:
                return self._root / found
        for place in (self._root / folder_path / name for name in names for folder_path in (row_folder, ".", IMAGES)):
            if _is_file(place) and place.resolve().is_relative_to(self._root):
                return place
        same_name = self._unique_names.get(Path(path).name)
        if same_name is None:
            raise RowError("picture_missing", f"The picture {path[:200]} is not there.")
        return same_name

    @property
    def _root(self) -> Path:
        return self.root.parent if self.root.is_file() else self.root

    def _path(self, name: str) -> Path:
        return self._root / name

    @cached_property
    def _regular_file_names(self) -> frozenset[str]:
        """Plain files by their path in the folder: most pictures are found here, without a look at the disk."""
        if self.root.is_file():
            return frozenset()
        return frozenset(path.relative_to(self.root).as_posix() for path in self._regular_files())

    def _regular_files(self) -> Iterator[Path]:
        for folder, folders, names in os.walk(self.root):
            folders.sort()
            for name in names:
                path = Path(folder) / name
                if not path.is_symlink():
                    yield path

    @cached_property
    def _sizes(self) -> tuple[dict[str, int], int]:
        """Bytes before each file of rows, and in all."""
        bytes_before, total = {}, 0
        for name in self.files:
            bytes_before[name] = total
            total += self._path(name).stat().st_size
        return bytes_before, total

    @cached_property
    def _unique_names(self) -> dict[str, Path]:
        """Pictures that only one file is called as: datasets often name no folder."""
        if self.root.is_file():
            return {}
        found: dict[str, Path | None] = {}
        for path in self._regular_files():
            if path.suffix.lower() in (".png", ".jpg", ".jpeg"):
                found[path.name] = None if path.name in found else path
        return {name: path for name, path in found.items() if path is not None}

    def _lines(self, name: str, offset: int, line: int) -> Iterator[LocatedRow]:
        with self._path(name).open("rb") as file:
            file.seek(offset)
            end = offset
            while text := file.readline(MAX_ROW_BYTES + 1):
                line += 1
                start, end = end, end + len(text)
                if len(text) > MAX_ROW_BYTES:
                    while text and not text.endswith(b"\n"):
                        text = file.readline(MAX_ROW_BYTES)
                        end += len(text)
                    fault = ("row_too_long", f"It has more than {MAX_ROW_BYTES} bytes.")
                    yield LocatedRow(name, line, start, end, fault=fault)
                elif text.strip():
                    yield _parse_row(name, line, start, end, text)

    def _single_row(self, name: str, offset: int) -> Iterator[LocatedRow]:
        """A file that is one row. One that is something else (a setting) is no row at all."""
        if offset:
            return
        with self._path(name).open("rb") as file:
            text = file.read(MAX_ROW_BYTES + 1)
        size = self._path(name).stat().st_size
        if not TRAJECTORY_PATTERN.search(text):
            return
        if len(text) > MAX_ROW_BYTES:
            yield LocatedRow(name, 1, 0, size, fault=("row_too_long", f"It has more than {MAX_ROW_BYTES} bytes."))
            return
        row = _parse_row(name, 1, 0, size, text)
        if row.value is None or {"schema_version", "traj", "format"} & row.value.keys():
            yield row


class RowPictures:
    """The pictures that one row shows, kept as they are found."""

    def __init__(self, folder: SourceFolder, row: LocatedRow) -> None:
        self._folder, self._row = folder, row
        self._found: dict[str, SourceImage] = {}

    @property
    def refs(self) -> tuple[BlobRef, ...]:
        """What was found, each once, in order."""
        return tuple(dict.fromkeys(one.image for one in self._found.values()))

    def find(self, path: str) -> SourceImage:
        """The picture of this path, stored. Raises RowError."""
        if path not in self._found:
            self._found[path] = self._store(self._folder.picture(path, self._row))
        return self._found[path]

    def stored_blobs(self, trajectory: Trajectory) -> tuple[BlobRef, ...]:
        """All blobs a trajectory names: pictures must be there, files and prompts may be. Raises RowError."""
        pictures, beside = (
            trajectory_images(trajectory),
            (*trajectory_files(trajectory), *trajectory_prompts(trajectory)),
        )
        for ref in (*pictures, *beside):
            if ref.media_type not in EXTENSIONS:  # no export could write it again
                raise RowError("picture_type", f"{ref.media_type[:80]} is no type of a picture or file.")
        for ref in pictures:
            self._fetch(ref)
        found = []
        for ref in beside:
            try:
                self._fetch(ref)
            except RowError:
                continue
            found.append(ref)
        return tuple(dict.fromkeys((*pictures, *found)))

    def _fetch(self, ref: BlobRef) -> None:
        """Have the bytes of a reference: those that are here, or those of the folder. Raises RowError."""
        if ref.sha256 in self._folder.stored_blobs:
            return
        if not blob_path(ref.sha256).exists():
            data = _read_file(self._folder.picture(image_path(ref), self._row))
            if BlobRef.of(data, ref.media_type) != ref:
                raise RowError("picture_changed", f"The bytes of {image_path(ref)} are not those of its digest.")
            blob_write(ref=ref, data=data)
        self._folder.stored_blobs.add(ref.sha256)

    def _store(self, path: Path) -> SourceImage:
        data = _read_file(path)
        try:
            kind, width, height = describe_picture(data)
        except PictureUnreadable as error:
            raise RowError("picture_type", f"{path.name[:200]} cannot be used: {str(error)[:200]}.") from None
        ref = BlobRef.of(data, kind)
        blob_write(ref=ref, data=data)
        return SourceImage(ref, width, height)


def digest_row(row: LocatedRow, refs: tuple[BlobRef, ...]) -> str:
    """What makes a row this row and no other: its values and its pictures, whatever its spelling."""
    return hashlib.sha256("\n".join((row.canonical, *(ref.sha256 for ref in refs))).encode()).hexdigest()


def _read_file(path: Path) -> bytes:
    if path.stat().st_size > BLOB_LIMIT_BYTES:
        raise RowError("picture_too_large", f"{path.name[:200]} has more than {BLOB_LIMIT_BYTES} bytes.")
    return path.read_bytes()


def _is_file(place: Path) -> bool:
    try:
        return place.is_file()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return False
        raise


def _is_encodable(name: str) -> bool:
    return name.isprintable() or name.encode(errors="ignore").decode() == name


def _parse_json(text: bytes) -> tuple[Any, bool]:
    """The value, and whether all its numbers are finite. Raises ValueError and RecursionError."""
    try:
        return json.loads(text, parse_float=_parse_finite, parse_constant=_parse_finite), True
    except _NonFiniteNumber:
        return json.loads(text), False


class _NonFiniteNumber(ValueError):
    pass


def _parse_finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _NonFiniteNumber
    return value


def _parse_row(name: str, line: int, start: int, end: int, text: bytes) -> LocatedRow:
    def faulty(reason: str) -> LocatedRow:
        return LocatedRow(name, line, start, end, fault=("bad_json", reason[:MAX_REASON_CHARACTERS]))

    text = text.removeprefix(BYTE_ORDER_MARK)
    try:
        value, finite = _parse_json(text)
    except (ValueError, RecursionError) as error:
        return faulty(f"It is no JSON: {error}")
    if not isinstance(value, dict):
        return faulty("It is no JSON object.")
    if not (finite and SURROGATE_PATTERN.search(text) is None) and (fault := find_json_error(value)) is not None:
        return faulty(": ".join(filter(None, fault)))
    return LocatedRow(name, line, start, end, value)
