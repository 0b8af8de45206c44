"""Zip files of exported folders: fetched to the end, unpacked beside, checked, renamed when whole."""

import hashlib
import os
import shutil
import tarfile
import time
import zipfile
from pathlib import Path, PurePosixPath
from typing import IO

from pydantic import ValidationError

from annotation_app.client.connection import PAUSES, Connection
from annotation_app.client.errors import Damaged, NothingToImport, ServerFailed, Unreachable
from vocabulary.exports import MANIFEST, UNFINISHED, Manifest

PART = ".part"
MANIFEST_BYTES = 4 * 1024**3
CHUNK = 1024 * 1024
ROWS = (".jsonl", ".ndjson", ".json")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def fetch(connection: Connection, path: str, target: Path) -> str:
    """Download to a file, going on where it broke off, also where an earlier process did; the tag of what it is. Raises
    Refused, Unreachable, Damaged."""
    aside, tagged = target.with_name(target.name + PART), target.with_name(target.name + ".etag")
    pauses, had = iter(PAUSES), 0
    while True:
        try:
            tag = _fetch_on(connection, path, aside, tagged)
            break
        except (Unreachable, ServerFailed):
            have = aside.stat().st_size if aside.exists() else 0
            if have > had:  # it got further: a long download may break off any number of times
                pauses, had = iter(PAUSES), have
            pause = next(pauses, None)
            if pause is None:
                raise
            time.sleep(pause)
    os.replace(aside, target)
    tagged.unlink(missing_ok=True)
    return tag


def _fetch_on(connection: Connection, path: str, aside: Path, tagged: Path) -> str:
    begin = aside.stat().st_size if aside.exists() and tagged.exists() else 0
    headers = {"Range": f"bytes={begin}-", "If-Range": tagged.read_text()} if begin else {}
    with connection.stream(path, headers) as response:
        tag: str = response.headers.get("ETag", "")
        if response.status_code == 416:
            return tagged.read_text()
        goes_on = response.status_code == 206
        if tag and not goes_on:
            tagged.write_text(tag)
        with aside.open("ab" if goes_on else "wb") as file:
            for chunk in response.iter_bytes():
                file.write(chunk)
    return tag


def zipped(folder: Path, aside: Path) -> Path:
    """A folder's files in a zip file; pictures are compressed already."""
    target = aside / f"{folder.resolve().name}.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder))
    return target


def rows_check(path: Path) -> None:
    """Raises NothingToImport for what visibly holds no trajectories, and OSError where it cannot be read."""
    if path.is_dir():
        if not any(one.suffix in ROWS and one.is_file() for one in path.rglob("*")):
            raise NothingToImport(f"{path} holds no file of rows ({', '.join(ROWS)})")
        return
    with path.open("rb") as file:
        begin = file.read(CHUNK)
    if zipfile.is_zipfile(path) or (begin and tarfile.is_tarfile(path)):
        return
    first = next((line for line in begin.splitlines() if line.strip()), b"")
    if not first:
        raise NothingToImport(f"{path} is empty")
    if not first.removeprefix(BYTE_ORDER_MARK).lstrip().startswith(b"{"):
        raise NothingToImport(f"{path} is no zip, no tar and no lines of JSON objects")


def unpack(archive: Path, target: Path, *, manifest_sha256: str | None = None) -> Manifest:
    """The folder in a zip file, under its name when every file is what the manifest says. Raises Damaged."""
    aside = target.with_name(target.name + UNFINISHED)
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    try:
        with zipfile.ZipFile(archive) as packed:
            manifest = _unpack(packed, aside, manifest_sha256)
    except (zipfile.BadZipFile, EOFError, NotImplementedError) as error:
        raise Damaged(f"{archive.name} is no whole zip file: {error}") from None
    os.replace(aside, target)
    return manifest


def _unpack(packed: zipfile.ZipFile, aside: Path, manifest_sha256: str | None) -> Manifest:
    names = {_inside(info.filename): info for info in packed.infolist() if not info.is_dir()}
    if MANIFEST not in names:
        raise Damaged(f"there is no {MANIFEST}")
    with packed.open(names[MANIFEST]) as source:
        digest = _copy(source, aside / MANIFEST, MANIFEST_BYTES)
    if manifest_sha256 is not None and digest != manifest_sha256:
        raise Damaged(f"{MANIFEST} is another one than the server's")
    try:
        manifest = Manifest.model_validate_json((aside / MANIFEST).read_bytes())
    except ValidationError as error:
        raise Damaged(f"{MANIFEST} cannot be read: {error.errors()[0]['msg']}") from None
    for file in manifest.files:
        if file.path not in names:
            raise Damaged(f"{file.path} is missing")
        place = aside / file.path
        place.parent.mkdir(parents=True, exist_ok=True)
        with packed.open(names[file.path]) as source:
            if _copy(source, place, file.size) != file.sha256:
                raise Damaged(f"{file.path} is not what the manifest says")
    return manifest


def _inside(name: str) -> str:
    """A file's path below the zip's one folder. Raises Damaged for one that leads out of it."""
    parts = PurePosixPath(name).parts
    if len(parts) < 2 or name.startswith("/") or ".." in parts or "\\" in name:
        raise Damaged(f"a file is not inside the folder: {name!r}")
    return PurePosixPath(*parts[1:]).as_posix()


def _copy(source: IO[bytes], place: Path, most: int) -> str:
    digest, size = hashlib.sha256(), 0
    with place.open("wb") as file:
        while chunk := source.read(CHUNK):
            size += len(chunk)
            if size > most:
                raise Damaged(f"{place.name} is larger than the manifest says")
            file.write(chunk)
            digest.update(chunk)
    return digest.hexdigest()
