"""Putting records into files, one part of a split at a time; a part is written aside and whole when it is renamed."""

import hashlib
import os
import shutil
import tarfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from annotation_app.blobs.selectors import blob_exists, blob_path, blob_read
from annotation_app.exports.columns import IMAGE_TYPE, parquet_schema
from protocol.blobs import BlobRef
from protocol.formats.records import ExportFormat, Record
from protocol.trajectory.export_folders import IMAGES, image_path

WrittenFile = tuple[str, str, int]
"""A file by its path inside the folder, its sha256 and its size."""
ROW_GROUP_BYTES, ROW_GROUP_ROWS = 16 << 20, 256
"""The largest group of a table's rows, which is held in memory by who writes it and by who reads it; one row that is
larger is a group of its own."""
ROW_TEXT_BYTES = 8 << 10
"""What a row counts beside its pictures."""
TAR_NAME_BYTES = 100
"""The longest name that a tar header holds in one piece."""
EMPTY_TAR_HEADER = tarfile.TarInfo().tobuf(tarfile.USTAR_FORMAT)
PARTIAL_SUFFIX = ".part"
CHUNK_BYTES = 1 << 20


class _PartWriter(ABC):
    """Writes the records of one part, in a `with` block that leaves nothing open whatever happens."""

    @abstractmethod
    def add(self, record: Record) -> None:
        """Take one record."""

    @abstractmethod
    def close(self) -> list[WrittenFile]:
        """Make the part whole; the files that are finished with it."""

    @abstractmethod
    def __exit__(self, *_: object) -> None: ...

    def __enter__(self) -> Self:
        return self


class LinesWriter(_PartWriter):
    """Lines into `parts/`, which are put together in the end; pictures beside them."""

    def __init__(self, folder: Path, form: ExportFormat, split: str, number: int, shards: int) -> None:
        self._folder, self._split, self._number = folder, split, number
        self._open: dict[str, Any] = {}
        self._blobs: dict[str, WrittenFile] = {}

    def add(self, record: Record) -> None:
        for ref in record.images:
            self._store_blob(ref)
        for ref in record.extras:
            if blob_exists(ref.sha256):
                self._store_blob(ref)
        for name, text in record.lines.items():
            self._file(name).write(text.encode() + b"\n")

    def close(self) -> list[WrittenFile]:
        for name, file in self._open.items():
            _sync_and_close(file)
            path = part_path(self._folder, self._split, name, self._number)
            os.replace(path.with_name(path.name + PARTIAL_SUFFIX), path)
        return list(self._blobs.values())

    def _file(self, name: str) -> Any:
        if name not in self._open:
            path = part_path(self._folder, self._split, name, self._number)
            path.parent.mkdir(parents=True, exist_ok=True)
            self._open[name] = path.with_name(path.name + PARTIAL_SUFFIX).open("wb")
        return self._open[name]

    def _store_blob(self, ref: BlobRef) -> None:
        if ref.sha256 not in self._blobs:
            path = image_path(ref)
            (self._folder / IMAGES).mkdir(exist_ok=True)
            copy_blob(ref, self._folder / path)
            self._blobs[ref.sha256] = (path, ref.sha256, ref.size)

    def __exit__(self, *_: object) -> None:
        for file in self._open.values():
            file.close()


class ParquetWriter(_PartWriter):
    """Rows into one parquet file, with their pictures; a group of rows is bounded by its bytes."""

    def __init__(self, folder: Path, form: ExportFormat, split: str, number: int, shards: int) -> None:
        self._schema = parquet_schema(form.name)
        self._target = folder / "data" / f"{split}-{number:05d}-of-{shards:05d}.parquet"
        self._target.parent.mkdir(exist_ok=True)
        self._partial = self._target.with_name(self._target.name + PARTIAL_SUFFIX)
        self._writer = pq.ParquetWriter(self._partial, self._schema, compression="zstd", use_dictionary=False)
        self._rows: list[Mapping[str, Any]] = []
        self._images: list[tuple[BlobRef, ...]] = []
        self._bytes = 0
        self._group_pictures: dict[str, bytes] = {}
        self._folder = folder

    def add(self, record: Record) -> None:
        size = ROW_TEXT_BYTES + sum(ref.size for ref in record.images)
        if self._rows and (self._bytes + size > ROW_GROUP_BYTES or len(self._rows) >= ROW_GROUP_ROWS):
            self._flush()
        self._rows.append(record.row)
        self._images.append(record.images)
        self._bytes += size

    def close(self) -> list[WrittenFile]:
        self._flush()
        self._writer.close()
        os.replace(self._partial, self._target)
        return [_describe_file(self._target, self._folder)]

    def _flush(self) -> None:
        if self._rows:
            columns = [self._column(field) for field in self._schema]
            self._writer.write_table(pa.Table.from_arrays(columns, schema=self._schema))
            self._rows.clear()
            self._images.clear()
            self._bytes = 0
            self._group_pictures.clear()

    def _column(self, field: pa.Field) -> pa.Array:
        if field.name == "images":
            offsets = [0, *accumulate(len(images) for images in self._images)]
            pictures = [self._picture(ref) for images in self._images for ref in images]
            return pa.ListArray.from_arrays(offsets, pa.array(pictures, IMAGE_TYPE), type=field.type)
        if field.name == "image":
            return pa.array([self._picture(images[0]) if images else None for images in self._images], IMAGE_TYPE)
        return pa.array([row[field.name] for row in self._rows], field.type)

    def _picture(self, ref: BlobRef) -> dict[str, Any]:
        """A picture as `datasets` reads it; one that several rows of a group show is read once."""
        data = self._group_pictures.get(ref.sha256)
        if data is None:
            data = self._group_pictures[ref.sha256] = blob_read(ref.sha256)
        return {"bytes": data, "path": image_path(ref).rpartition("/")[2]}

    def __exit__(self, *_: object) -> None:
        if self._writer.is_open:
            self._writer.close()


class TarWriter(_PartWriter):
    """Samples into one tar file; times and owners are nobody's, so that the bytes are the same again."""

    def __init__(self, folder: Path, form: ExportFormat, split: str, number: int, shards: int) -> None:
        self._folder = folder
        self._target = folder / f"{split}-{number:05d}.tar"
        self._partial = self._target.with_name(self._target.name + PARTIAL_SUFFIX)
        self._file = self._partial.open("wb")

    def add(self, record: Record) -> None:
        for name, content in record.files.items():
            data = content if isinstance(content, bytes) else blob_read(content.sha256)
            padding = bytes(-len(data) % tarfile.BLOCKSIZE)
            self._file.write(tar_header(name, len(data)) + data + padding)

    def close(self) -> list[WrittenFile]:
        end = self._file.tell() + 2 * tarfile.BLOCKSIZE
        self._file.write(bytes(2 * tarfile.BLOCKSIZE + -end % tarfile.RECORDSIZE))
        self._file.close()
        os.replace(self._partial, self._target)
        return [_describe_file(self._target, self._folder)]

    def __exit__(self, *_: object) -> None:
        self._file.close()


class FolderWriter(_PartWriter):
    """A folder a trajectory."""

    def __init__(self, folder: Path, form: ExportFormat, split: str, number: int, shards: int) -> None:
        self._folder, self._split = folder, split
        self._files: list[WrittenFile] = []

    def add(self, record: Record) -> None:
        created: set[str] = set()
        for name, content in record.files.items():
            path = self._folder / self._split / name
            if name.rpartition("/")[0] not in created:
                path.parent.mkdir(parents=True, exist_ok=True)
                created.add(name.rpartition("/")[0])
            if isinstance(content, BlobRef):
                copy_blob(content, path)
                sha256, size = content.sha256, content.size
            else:
                path.write_bytes(content)
                sha256, size = hashlib.sha256(content).hexdigest(), len(content)
            self._files.append((f"{self._split}/{name}", sha256, size))

    def close(self) -> list[WrittenFile]:
        return self._files

    def __exit__(self, *_: object) -> None:
        pass


PART_WRITERS: dict[str, type[LinesWriter] | type[ParquetWriter] | type[TarWriter] | type[FolderWriter]] = {
    "lines": LinesWriter,
    "table": ParquetWriter,
    "shards": TarWriter,
    "folders": FolderWriter,
}


def tar_header(name: str, size: int) -> bytes:
    """A tar header (POSIX ustar) with owner 0, time 0 and mode 0644, so that archives are reproducible."""
    known = name.encode()
    if len(known) > TAR_NAME_BYTES or not name.isascii():
        entry = tarfile.TarInfo(name)
        entry.size = size
        return entry.tobuf(tarfile.USTAR_FORMAT)
    head = b"%s%s%011o%s" % (
        known.ljust(TAR_NAME_BYTES, b"\0"),
        EMPTY_TAR_HEADER[100:124],
        size,
        EMPTY_TAR_HEADER[135:148],
    )
    tail = EMPTY_TAR_HEADER[156:]
    return b"%s%06o\0 %s" % (head, sum(head) + sum(tail) + 8 * 32, tail)


def part_path(folder: Path, split: str, name: str, number: int) -> Path:
    """Where the lines of a part wait to be put together."""
    return folder / "parts" / split / f"{name}.{number:06d}"


def join_lines(
    folder: Path, split: str, target: str, name: str, parts: int, *, first_line_marker: bytes | None = None
) -> WrittenFile:
    """The lines of a split's parts as one file. `lead`: the first line that holds it comes first."""
    path = folder / target
    path.parent.mkdir(parents=True, exist_ok=True)
    found = [one for one in (part_path(folder, split, name, number) for number in range(parts)) if one.exists()]
    first = _first_line(found, first_line_marker) if first_line_marker is not None else None
    digest, size = hashlib.sha256(), 0
    with path.open("wb") as whole:
        for chunk in _join_chunks(found, first):
            whole.write(chunk)
            digest.update(chunk)
            size += len(chunk)
    return target, digest.hexdigest(), size


def _first_line(parts: list[Path], first_line_marker: bytes) -> tuple[Path, int, bytes] | None:
    """The first line that holds these bytes: its part, its number and itself."""
    for part in parts:
        with part.open("rb") as lines:
            for number, line in enumerate(lines):
                if first_line_marker in line:
                    return part, number, line
    return None


def _join_chunks(parts: list[Path], first: tuple[Path, int, bytes] | None) -> Iterator[bytes]:
    if first is not None:
        yield first[2]
    for part in parts:
        if first is None or part != first[0]:
            yield from _read_chunks(part)
        else:
            with part.open("rb") as lines:
                yield from (line for number, line in enumerate(lines) if number != first[1])


def copy_blob(ref: BlobRef, target: Path) -> None:
    """A blob's bytes as a file; one that an interrupted run has copied is kept. Raises FileNotFoundError."""
    if not target.exists() or target.stat().st_size != ref.size:
        shutil.copyfile(blob_path(ref.sha256), target)


def _describe_file(path: Path, folder: Path) -> WrittenFile:
    digest = hashlib.sha256()
    for chunk in _read_chunks(path):
        digest.update(chunk)
    return str(path.relative_to(folder)), digest.hexdigest(), path.stat().st_size


def _read_chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk


def _sync_and_close(file: Any) -> None:
    file.flush()
    os.fdatasync(file.fileno())
    file.close()
