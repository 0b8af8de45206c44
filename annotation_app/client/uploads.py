"""Uploads in parts: an interrupted upload resumes, also where an earlier process stopped."""

import base64
import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from annotation_app.client.connection import RETRY_PAUSES_SECONDS, Connection
from annotation_app.client.errors import (
    Conflict,
    DownloadDamaged,
    PilothouseError,
    RequestRejected,
    ServerFailed,
    TooMany,
    Unreachable,
)
from annotation_app.client.responses import UploadOut

UPLOADS_PATH = "/imports/uploads"
TUS_HEADERS = {"Tus-Resumable": "1.0.0"}
PART_BYTES = 4 * 2**20
"""Bytes of a part, where the server takes as many: a slow line (20 kB/s) sends one within four minutes."""
UPLOADS_ADAPTER = TypeAdapter(tuple[UploadOut, ...])
ProgressCallback = Callable[[int, int], None]
"""Hears how many bytes arrived, and of how many."""


def upload_file(
    connection: Connection, file: Path, *, pool: str = "", form: str = "", progress: ProgressCallback = lambda *_: None
) -> Any:
    """Send a file in parts and have it imported; what the server says of the import.

    An unfinished upload of the same bytes, also one of an earlier process, is resumed.

    Raises:
        Damaged: The file became shorter while it was sent.
        RequestRejected, Unreachable, OSError
    """
    digest, size = _digest(file), file.stat().st_size
    upload = _find_unfinished(connection, digest, size, pool, form) or _create_upload(
        connection, file.name, digest, size, pool, form
    )
    path = f"{UPLOADS_PATH}/{upload.id}"
    _send_parts(connection, file, path, upload, progress)
    return connection.post(f"{path}/import", {"pool": pool, "format": form}, repeatable=True)


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _find_unfinished(connection: Connection, digest: str, size: int, pool: str, form: str) -> UploadOut | None:
    expected = (digest, size, pool, form)
    found = UPLOADS_ADAPTER.validate_python(connection.get(UPLOADS_PATH))
    return next((one for one in found if (one.sha256, one.size, one.pool, one.format) == expected), None)


def _create_upload(connection: Connection, name: str, digest: str, size: int, pool: str, form: str) -> UploadOut:
    metadata = {"filename": name, "sha256": digest, "pool": pool, "format": form}
    pairs = ",".join(f"{key} {_base64(value.encode('utf-8', 'replace'))}" for key, value in metadata.items() if value)
    headers = {**TUS_HEADERS, "Upload-Length": str(size), "Upload-Metadata": pairs}
    return UploadOut.model_validate_json(connection.send("POST", UPLOADS_PATH, headers).content)


def _send_parts(connection: Connection, file: Path, path: str, upload: UploadOut, progress: ProgressCallback) -> None:
    offset, part_bytes = upload.offset, min(PART_BYTES, upload.part_bytes)
    pauses, failed = iter(RETRY_PAUSES_SECONDS), False
    with file.open("rb") as content:
        while True:
            progress(offset, upload.size)
            if offset >= upload.size:
                return
            content.seek(offset)
            data = content.read(min(part_bytes, upload.size - offset))
            if not data:
                raise DownloadDamaged(f"{file} became shorter while it was sent")
            try:
                reached = _read_offset(connection, path) if failed else _send_part(connection, path, offset, data)
            except (Unreachable, RequestRejected) as error:
                pause = next(pauses, None)
                if pause is None or not _is_transient(error):
                    raise
                failed = True
                time.sleep(pause)
                continue
            if reached > offset:  # a long upload may break off any number of times
                pauses = iter(RETRY_PAUSES_SECONDS)
            offset, failed = reached, False


def _is_transient(error: PilothouseError) -> bool:
    """Whether a part may be sent again: no answer, a busy server, or a part that was damaged on its way."""
    if error.code == "disk_full":
        return False
    return isinstance(error, Unreachable | ServerFailed | TooMany) or error.code == "checksum_mismatch"


def _send_part(connection: Connection, path: str, offset: int, data: bytes) -> int:
    """Where the next part begins."""
    headers = {
        **TUS_HEADERS,
        "Content-Type": "application/offset+octet-stream",
        "Upload-Offset": str(offset),
        "Upload-Checksum": f"sha256 {_base64(hashlib.sha256(data).digest())}",
    }
    try:
        return int(connection.send("PATCH", path, headers, data).headers["Upload-Offset"])
    except Conflict as error:
        if error.code != "upload_offset":
            raise
        return _read_offset(connection, path)


def _read_offset(connection: Connection, path: str) -> int:
    return int(connection.send("HEAD", path, TUS_HEADERS, repeatable=True).headers["Upload-Offset"])


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
