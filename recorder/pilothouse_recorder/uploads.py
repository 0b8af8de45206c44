"""Uploads to the platform in parts (tus 1.0.0). An interrupted upload resumes; a completed one sends nothing."""

import base64
import hashlib
import http.client
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from .errors import RecorderError
from .packing import pack_session
from .sessions import Session, write_whole

UPLOADED, IMPORTING, PACKED = "uploaded.json", "importing.json", "upload.zip"
REOPENED = "reopened.json"
"""Marks a session that was uploaded and then deleted on the platform: it may be changed, and uploaded again."""
TUS = {"Tus-Resumable": "1.0.0"}
PART_BYTES = 4 * 2**20
TIMEOUT_SECONDS = 60.0
RETRY_PAUSES_SECONDS = (0.2, 0.8, 3.2)
POLL_SECONDS = 0.5
ENDED = ("done", "failed", "cancelled")
UNRESOLVED = ("unreachable", "server_failed", "answer_unknown")
"""Errors after which the platform may have executed the request."""


class Server:
    """The platform and a token. Every call raises RecorderError: `unreachable`, or the server's own code."""

    uploads_path, imports_path = "/api/imports/uploads", "/api/imports"

    def __init__(self, url: str, token: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise RecorderError("bad_url", f"{url!r} is no address of a server: http://… or https://….")
        secure = parts.scheme == "https"
        self._kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        self._host, self._port = parts.hostname, parts.port
        self._prefix = parts.path.rstrip("/")
        self._authorization = {"Authorization": f"Bearer {token}"}

    def call(self, method: str, path: str, headers: Mapping[str, str] = {}, body: bytes | None = None) -> "Answer":
        """One HTTP request."""
        connection = self._kind(self._host, self._port, timeout=TIMEOUT_SECONDS)
        try:
            connection.request(method, self._prefix + path, body, {**self._authorization, **headers})
            response = connection.getresponse()
            content = response.read()
        except (OSError, http.client.HTTPException) as error:
            raise RecorderError("unreachable", f"The server does not answer: {error}") from None
        finally:
            connection.close()
        if response.status >= 400:
            raise _rejection(response.status, content)
        return Answer({name.lower(): value for name, value in response.getheaders()}, content)

    def pool_name(self, pool: str) -> str:
        """The name of the pool that a person or a session means; empty lets the platform choose."""
        return pool

    def upload_metadata(self, session: Session, digest: str, pool: str) -> dict[str, str]:
        """Metadata that announces an upload, apart from its size. `pool` comes from `pool_name`."""
        return {"filename": f"{session.id}.zip", "sha256": digest, "pool": pool, "format": "recording"}

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Send JSON. Returns the JSON of the answer."""
        headers = {"Content-Type": "application/json"}
        return self.call("POST", path, headers, json.dumps(body).encode()).json()


class Answer:
    """A server's answer without an error status."""

    def __init__(self, headers: Mapping[str, str], content: bytes) -> None:
        self._headers, self.content = headers, content

    @property
    def upload_offset(self) -> int:
        """Where the next part begins. Raises RecorderError with `answer_unknown`."""
        value = self._headers.get("upload-offset", "")
        if not value.isdecimal():
            raise _unknown_answer()
        return int(value)

    def json(self) -> Any:
        """Its JSON. Raises RecorderError with `answer_unknown`."""
        try:
            return json.loads(self.content)
        except ValueError:
            raise _unknown_answer() from None


def _unknown_answer() -> RecorderError:
    return RecorderError("answer_unknown", "The server's answer is not understood.")


def require_not_uploaded(session: Session) -> None:
    """Raises RecorderError with `already_uploaded` if the platform has the session.

    Raises `upload_unresolved` if the platform may be importing it; `upload` finds out.
    """
    if (session.folder / UPLOADED).exists():
        message = "This session was uploaded. To change it, delete it on the platform, then run `reopen`."
        raise RecorderError("already_uploaded", message)
    if (session.folder / IMPORTING).exists():
        raise RecorderError("upload_unresolved", "An upload of this session broke off at its end: run `upload` again.")


def upload_session(server: Server, session: Session, pool: str) -> dict[str, Any]:
    """Upload a session and wait for its import, which is returned. A repeated upload sends nothing. Hold the session's
    lock.

    From before the import begins until it has ended, `importing.json` has its id, or null if the id is unknown.

    Raises RecorderError; `import_failed` if the platform rejects the session.
    """
    noted = session.folder / UPLOADED
    if noted.exists():
        found: dict[str, Any] = json.loads(noted.read_bytes())
        return found
    packed, importing = session.folder / PACKED, session.folder / IMPORTING
    import_id = json.loads(importing.read_bytes())["import"] if importing.exists() else None
    if import_id is None:
        pack_session(session, packed)
        pool = server.pool_name(pool)
        path = _send_file(server, packed, session, pool)
        import_id = _begin_import(server, path, pool, importing)
    try:
        job = _wait_for_import(server, import_id)
    except RecorderError as error:
        if error.code == "import_failed":
            importing.unlink()
        raise
    write_whole(noted, json.dumps(job).encode())
    importing.unlink()
    packed.unlink(missing_ok=True)
    (session.folder / REOPENED).unlink(missing_ok=True)
    return job


def is_reopened(session: Session) -> bool:
    """Whether the person wants to upload it again after they deleted it on the platform."""
    return (session.folder / REOPENED).exists()


def _begin_import(server: Server, path: str, pool: str, importing: Path) -> str:
    """Start the import of the upload at `path`. Returns the import's id."""
    known = importing.exists()
    write_whole(importing, json.dumps({"import": None}).encode())
    try:
        import_id = str(server.post(f"{path}/import", {"pool": pool, "format": "recording"})["id"])
    except RecorderError as error:
        if error.code not in UNRESOLVED and not known:
            importing.unlink()
        raise
    write_whole(importing, json.dumps({"import": import_id}).encode())
    return import_id


def _send_file(server: Server, file: Path, session: Session, pool: str) -> str:
    """Send the parts that the server lacks. Returns the upload's path."""
    with file.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
        size = file.stat().st_size
        upload = _find_upload(server, digest, size, pool) or _create_upload(server, digest, size, pool, session)
        path, offset = f"{server.uploads_path}/{upload['id']}", int(upload["offset"])
        part_bytes = min(PART_BYTES, int(upload["part_bytes"]))
        pauses, failed = iter(RETRY_PAUSES_SECONDS), False
        while offset < size:
            content.seek(offset)
            try:
                reached = (
                    _offset(server, path) if failed else _send_part(server, path, offset, content.read(part_bytes))
                )
            except RecorderError as error:
                pause = next(pauses, None)
                if pause is None or error.code not in ("unreachable", "server_failed", "upload_offset"):
                    raise
                failed = True
                time.sleep(pause)
                continue
            if reached > offset:
                pauses = iter(RETRY_PAUSES_SECONDS)
            offset, failed = reached, False
    return path


def _find_upload(server: Server, digest: str, size: int, pool: str) -> dict[str, Any] | None:
    unfinished = server.call("GET", server.uploads_path).json()
    same = (one for one in unfinished if (one["sha256"], one["size"], one["pool"]) == (digest, size, pool))
    return next(same, None)


def _create_upload(server: Server, digest: str, size: int, pool: str, session: Session) -> Any:
    metadata = server.upload_metadata(session, digest, pool)
    pairs = ",".join(f"{key} {base64.b64encode(value.encode()).decode()}" for key, value in metadata.items() if value)
    headers = {**TUS, "Upload-Length": str(size), "Upload-Metadata": pairs}
    return server.call("POST", server.uploads_path, headers).json()


def _send_part(server: Server, path: str, offset: int, data: bytes) -> int:
    checksum = base64.b64encode(hashlib.sha256(data).digest()).decode()
    headers = {
        **TUS,
        "Content-Type": "application/offset+octet-stream",
        "Upload-Offset": str(offset),
        "Upload-Checksum": f"sha256 {checksum}",
    }
    return server.call("PATCH", path, headers, data).upload_offset


def _offset(server: Server, path: str) -> int:
    return server.call("HEAD", path, TUS).upload_offset


def _wait_for_import(server: Server, import_id: str) -> dict[str, Any]:
    while True:
        job: dict[str, Any] = server.call("GET", f"{server.imports_path}/{import_id}").json()
        if job["status"] == "done":
            return job
        if job["status"] in ENDED:
            raise RecorderError("import_failed", f"{job['code']}: {job['error']}")
        time.sleep(POLL_SECONDS)


def _rejection(status: int, content: bytes) -> RecorderError:
    try:
        fields = json.loads(content)
    except ValueError:
        fields = None
    fields = fields if isinstance(fields, dict) else {}
    code = "server_failed" if status >= 500 and "code" not in fields else str(fields.get("code", "rejected"))
    return RecorderError(code, str(fields.get("message") or f"The server answered {status}."))
