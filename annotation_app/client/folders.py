"""Zip files of exported folders: fetched to the end, unpacked beside, checked, renamed when whole."""

import errno
import hashlib
import os
import shutil
import tarfile
import time
import zipfile
from pathlib import Path, PurePosixPath
from typing import IO

from pydantic import ValidationError

from annotation_app.client.connection import RETRY_PAUSES_SECONDS, Connection
from annotation_app.client.errors import DownloadDamaged, NothingToImport, ServerFailed, Unreachable
from protocol.trajectory.export_folders import MANIFEST, UNFINISHED_SUFFIX, ExportManifest

PARTIAL_SUFFIX = ".part"
MAX_MANIFEST_BYTES = 4 * 1024**3
CHUNK_BYTES = 1024 * 1024
ROW_SUFFIXES = (".jsonl", ".ndjson", ".json")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def check_download_target(target: Path) -> None:
    """Whether a folder can be made here, before a server works for it. Makes the parent folder.

    Raises:
        DownloadDamaged: Something is there already.
        PermissionError: The parent cannot be written; any other OSError where it cannot be made.
    """
    if target.exists():
        raise DownloadDamaged(f"{target} is there already")
    target.parent.mkdir(parents=True, exist_ok=True)
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target.parent))


def download(connection: Connection, path: str, target: Path) -> str:
    """Download to a file, going on where it broke off, also where an earlier process did; the tag of what it is. Raises
    RequestRejected, Unreachable, DownloadDamaged."""
    partial, tag_file = target.with_name(target.name + PARTIAL_SUFFIX), target.with_name(target.name + ".etag")
    pauses, received_before = iter(RETRY_PAUSES_SECONDS), 0
    while True:
        try:
            tag = _resume_download(connection, path, partial, tag_file)
            break
        except (Unreachable, ServerFailed):
            received = partial.stat().st_size if partial.exists() else 0
            if received > received_before:  # it got further: a long download may break off any number of times
                pauses, received_before = iter(RETRY_PAUSES_SECONDS), received
            pause = next(pauses, None)
            if pause is None:
                raise
            time.sleep(pause)
    os.replace(partial, target)
    tag_file.unlink(missing_ok=True)
    return tag


def _resume_download(connection: Connection, path: str, partial: Path, tag_file: Path) -> str:
    begin = partial.stat().st_size if partial.exists() and tag_file.exists() else 0
    headers = {"Range": f"bytes={begin}-", "If-Range": tag_file.read_text()} if begin else {}
    with connection.stream(path, headers) as response:
        tag: str = response.headers.get("ETag", "")
        if response.status_code == 416:
            return tag_file.read_text()
        is_resumed = response.status_code == 206
        if tag and not is_resumed:
            tag_file.write_text(tag)
        with partial.open("ab" if is_resumed else "wb") as file:
            for chunk in response.iter_bytes():
                file.write(chunk)
    return tag


def zip_folder(folder: Path, partial: Path) -> Path:
    """A folder's files in a zip file; pictures are compressed already."""
    target = partial / f"{folder.resolve().name}.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder))
    return target


def check_importable(path: Path) -> None:
    """Raises NothingToImport for what visibly holds no trajectories, and OSError where it cannot be read."""
    if path.is_dir():
        if not any(one.suffix in ROW_SUFFIXES and one.is_file() for one in path.rglob("*")):
            raise NothingToImport(f"{path} holds no file of rows ({', '.join(ROW_SUFFIXES)})")
        return
    with path.open("rb") as file:
        begin = file.read(CHUNK_BYTES)
    if zipfile.is_zipfile(path) or (begin and tarfile.is_tarfile(path)):
        return
    first = next((line for line in begin.splitlines() if line.strip()), b"")
    if not first:
        raise NothingToImport(f"{path} is empty")
    if not first.removeprefix(BYTE_ORDER_MARK).lstrip().startswith(b"{"):
        raise NothingToImport(f"{path} is no zip, no tar and no lines of JSON objects")


def unpack_export(archive: Path, target: Path, *, manifest_sha256: str | None = None) -> ExportManifest:
    """The folder in a zip file, under its name when every file is what the manifest says. Raises DownloadDamaged."""
    partial = target.with_name(target.name + UNFINISHED_SUFFIX)
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        with zipfile.ZipFile(archive) as packed:
            manifest = _unpack(packed, partial, manifest_sha256)
    except (zipfile.BadZipFile, EOFError, NotImplementedError) as error:
        raise DownloadDamaged(f"{archive.name} is no whole zip file: {error}") from None
    os.replace(partial, target)
    return manifest


def _unpack(packed: zipfile.ZipFile, partial: Path, manifest_sha256: str | None) -> ExportManifest:
    names = {_path_inside(info.filename): info for info in packed.infolist() if not info.is_dir()}
    if MANIFEST not in names:
        raise DownloadDamaged(f"there is no {MANIFEST}")
    with packed.open(names[MANIFEST]) as source:
        digest = _copy(source, partial / MANIFEST, MAX_MANIFEST_BYTES)
    if manifest_sha256 is not None and digest != manifest_sha256:
        raise DownloadDamaged(f"{MANIFEST} is another one than the server's")
    try:
        manifest = ExportManifest.model_validate_json((partial / MANIFEST).read_bytes())
    except ValidationError as error:
        raise DownloadDamaged(f"{MANIFEST} cannot be read: {error.errors()[0]['msg']}") from None
    for file in manifest.files:
        if file.path not in names:
            raise DownloadDamaged(f"{file.path} is missing")
        place = partial / file.path
        place.parent.mkdir(parents=True, exist_ok=True)
        with packed.open(names[file.path]) as source:
            if _copy(source, place, file.size) != file.sha256:
                raise DownloadDamaged(f"{file.path} differs from the manifest")
    return manifest


def _path_inside(name: str) -> str:
    """A file's path below the zip's one folder. Raises DownloadDamaged for one that leads out of it."""
    parts = PurePosixPath(name).parts
    if len(parts) < 2 or name.startswith("/") or ".." in parts or "\\" in name:
        raise DownloadDamaged(f"a file is not inside the folder: {name!r}")
    return PurePosixPath(*parts[1:]).as_posix()


def _copy(source: IO[bytes], place: Path, most: int) -> str:
    digest, size = hashlib.sha256(), 0
    with place.open("wb") as file:
        while chunk := source.read(CHUNK_BYTES):
            size += len(chunk)
            if size > most:
                raise DownloadDamaged(f"{place.name} is larger than in the manifest")
            file.write(chunk)
            digest.update(chunk)
    return digest.hexdigest()
