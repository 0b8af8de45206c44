"""A folder that is taken in: its rows in one fixed order, and the pictures that lie beside them."""

import errno
import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from annotation_app.blobs.pictures import FORMATS, PictureUnreadable, picture_described
from annotation_app.blobs.selectors import blob_path
from annotation_app.blobs.services import BLOB_LIMIT, blob_write
from annotation_app.imports.unpacking import Unfit, place_of
from vocabulary.base import json_fault
from vocabulary.blobs import BlobRef
from vocabulary.exports import EXTENSIONS, IMAGES, MANIFEST, files_of, image_path, pictures_of, prompts_of
from vocabulary.formats.incoming import Shown
from vocabulary.formats.record import RowRefused
from vocabulary.trajectories import Trajectory

LONGEST_ROW = 64 * 1024 * 1024
"""Bytes of one row."""
BESIDE = frozenset({MANIFEST, "members.jsonl", "missing.jsonl", "refused.jsonl", "dataset_info.json"})
"""What exports have beside their rows."""
LINES = (".jsonl", ".ndjson")
WHOLE = ".json"
"""A file that is one row."""
LONGEST_REASON = 500
TRAJECTORY = re.compile(rb'"(schema_version|traj|format)"\s*:')
"""What a file has that is a trajectory, or was to be one."""
SUSPECT = re.compile(rb"\\u[dD][89a-fA-F]|NaN|Infinity|[eE]\+?[0-9]{3}|[0-9]{300}")
"""What the text of a value has that JSON cannot hold: half of a pair, no number, or a number too large."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, eq=False)
class Row:
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


class Folder:
    """What is taken in."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.kept: set[str] = set()
        """Digests of blobs that are known to be kept; none is deleted during an import."""

    @cached_property
    def files(self) -> list[str]:
        """The files that hold rows, by their path in the folder."""
        if self.root.is_file():
            return [self.root.name]
        found = (
            path.relative_to(self.root).as_posix()
            for path in self._plain()
            if path.suffix in (*LINES, WHOLE) and path.name not in BESIDE and path.parent.name != IMAGES
        )
        names = sorted(found)
        for name in names:
            if not _encodable(name):
                raise Unfit("archive_name", f"The name of a file of rows is not UTF-8: {name[:200]!r}")
        return names

    @property
    def size(self) -> int:
        """Bytes of the rows."""
        return self._sizes[1]

    def rows(self, file: str = "", offset: int = 0, line: int = 0) -> Iterator[Row]:
        """Every row after this place."""
        for name in self.files:
            if name < file:
                continue
            begun = (offset, line) if name == file else (0, 0)
            yield from self._whole(name, begun[0]) if name.endswith(WHOLE) else self._lines(name, *begun)

    def before(self, file: str) -> int:
        """Bytes of the rows in the files before this one."""
        return self._sizes[0].get(file, 0)

    def picture(self, path: str, row: Row) -> Path:
        """The file that a row means by a path, or by a digest. Raises RowRefused."""
        if DIGEST.fullmatch(path):
            names = [f"{IMAGES}/{path}.{EXTENSIONS[kind]}" for kind in FORMATS.values()]
        else:
            try:
                names = [place_of(path).as_posix()]
            except Unfit:
                raise RowRefused("picture_name", f"A picture's name leads elsewhere: {path[:200]!r}") from None
        around = Path(row.file).parent.as_posix()
        for found in (f"{near}/{name}".removeprefix("./") for name in names for near in (around, ".", IMAGES)):
            if found in self._plain_names:
                return self._root / found
        for place in (self._root / near / name for name in names for near in (around, ".", IMAGES)):
            if _is_file(place) and place.resolve().is_relative_to(self._root):
                return place
        alike = self._by_name.get(Path(path).name)
        if alike is None:
            raise RowRefused("picture_missing", f"The picture {path[:200]} is not there.")
        return alike

    @property
    def _root(self) -> Path:
        return self.root.parent if self.root.is_file() else self.root

    def _path(self, name: str) -> Path:
        return self._root / name

    @cached_property
    def _plain_names(self) -> frozenset[str]:
        """Plain files by their path in the folder: most pictures are found here, without a look at the disk."""
        if self.root.is_file():
            return frozenset()
        return frozenset(path.relative_to(self.root).as_posix() for path in self._plain())

    def _plain(self) -> Iterator[Path]:
        for folder, folders, names in os.walk(self.root):
            folders.sort()
            for name in names:
                path = Path(folder) / name
                if not path.is_symlink():
                    yield path

    @cached_property
    def _sizes(self) -> tuple[dict[str, int], int]:
        """Bytes before each file of rows, and in all."""
        before, total = {}, 0
        for name in self.files:
            before[name] = total
            total += self._path(name).stat().st_size
        return before, total

    @cached_property
    def _by_name(self) -> dict[str, Path]:
        """Pictures that only one file is called as: datasets often name no folder."""
        if self.root.is_file():
            return {}
        found: dict[str, Path | None] = {}
        for path in self._plain():
            if path.suffix.lower() in (".png", ".jpg", ".jpeg"):
                found[path.name] = None if path.name in found else path
        return {name: path for name, path in found.items() if path is not None}

    def _lines(self, name: str, offset: int, line: int) -> Iterator[Row]:
        with self._path(name).open("rb") as file:
            file.seek(offset)
            end = offset
            while text := file.readline(LONGEST_ROW + 1):
                line += 1
                start, end = end, end + len(text)
                if len(text) > LONGEST_ROW:
                    while text and not text.endswith(b"\n"):
                        text = file.readline(LONGEST_ROW)
                        end += len(text)
                    fault = ("row_too_long", f"It has more than {LONGEST_ROW} bytes.")
                    yield Row(name, line, start, end, fault=fault)
                elif text.strip():
                    yield _row(name, line, start, end, text)

    def _whole(self, name: str, offset: int) -> Iterator[Row]:
        """A file that is one row. One that is something else (a setting) is no row at all."""
        if offset:
            return
        with self._path(name).open("rb") as file:
            text = file.read(LONGEST_ROW + 1)
        size = self._path(name).stat().st_size
        if not TRAJECTORY.search(text):
            return
        if len(text) > LONGEST_ROW:
            yield Row(name, 1, 0, size, fault=("row_too_long", f"It has more than {LONGEST_ROW} bytes."))
            return
        row = _row(name, 1, 0, size, text)
        if row.value is None or {"schema_version", "traj", "format"} & row.value.keys():
            yield row


class Pictures:
    """The pictures that one row shows, kept as they are found."""

    def __init__(self, folder: Folder, row: Row) -> None:
        self._folder, self._row = folder, row
        self._found: dict[str, Shown] = {}

    @property
    def refs(self) -> tuple[BlobRef, ...]:
        """What was found, each once, in order."""
        return tuple(dict.fromkeys(one.image for one in self._found.values()))

    def find(self, path: str) -> Shown:
        """The picture of this path, stored. Raises RowRefused."""
        if path not in self._found:
            self._found[path] = self._keep(self._folder.picture(path, self._row))
        return self._found[path]

    def kept(self, trajectory: Trajectory) -> tuple[BlobRef, ...]:
        """All blobs a trajectory names: pictures must be there, files and prompts may be. Raises RowRefused."""
        pictures, beside = pictures_of(trajectory), (*files_of(trajectory), *prompts_of(trajectory))
        for ref in (*pictures, *beside):
            if ref.media_type not in EXTENSIONS:  # no export could write it again
                raise RowRefused("picture_type", f"{ref.media_type[:80]} is no type of a picture or file.")
        for ref in pictures:
            self._fetch(ref)
        found = []
        for ref in beside:
            try:
                self._fetch(ref)
            except RowRefused:
                continue
            found.append(ref)
        return tuple(dict.fromkeys((*pictures, *found)))

    def _fetch(self, ref: BlobRef) -> None:
        """Have the bytes of a reference: those that are here, or those of the folder. Raises RowRefused."""
        if ref.sha256 in self._folder.kept:
            return
        if not blob_path(ref.sha256).exists():
            data = _read(self._folder.picture(image_path(ref), self._row))
            if BlobRef.of(data, ref.media_type) != ref:
                raise RowRefused("picture_changed", f"The bytes of {image_path(ref)} are not those of its digest.")
            blob_write(ref=ref, data=data)
        self._folder.kept.add(ref.sha256)

    def _keep(self, path: Path) -> Shown:
        data = _read(path)
        try:
            kind, width, height = picture_described(data)
        except PictureUnreadable as unreadable:
            raise RowRefused("picture_type", f"{path.name[:200]} cannot be used: {str(unreadable)[:200]}.") from None
        ref = BlobRef.of(data, kind)
        blob_write(ref=ref, data=data)
        return Shown(ref, width, height)


def digest_of(row: Row, refs: tuple[BlobRef, ...]) -> str:
    """What makes a row this row and no other: its values and its pictures, whatever its spelling."""
    return hashlib.sha256("\n".join((row.canonical, *(ref.sha256 for ref in refs))).encode()).hexdigest()


def _read(path: Path) -> bytes:
    if path.stat().st_size > BLOB_LIMIT:
        raise RowRefused("picture_too_large", f"{path.name[:200]} has more than {BLOB_LIMIT} bytes.")
    return path.read_bytes()


def _is_file(place: Path) -> bool:
    try:
        return place.is_file()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return False
        raise


def _encodable(name: str) -> bool:
    return name.isprintable() or name.encode(errors="ignore").decode() == name


def _row(name: str, line: int, start: int, end: int, text: bytes) -> Row:
    def faulty(reason: str) -> Row:
        return Row(name, line, start, end, fault=("bad_json", reason[:LONGEST_REASON]))

    try:
        value = json.loads(text.removeprefix(BYTE_ORDER_MARK))
    except (ValueError, RecursionError) as error:
        return faulty(f"It is no JSON: {error}")
    if not isinstance(value, dict):
        return faulty("It is no JSON object.")
    if SUSPECT.search(text) and (fault := json_fault(value)) is not None:
        return faulty(": ".join(filter(None, fault)))
    return Row(name, line, start, end, value)
