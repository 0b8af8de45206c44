"""Pairing with the platform: exchanges a code from the web page for a token that can only upload this person's
recordings.
"""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from .errors import RecorderError
from .sessions import Session, write_whole
from .uploads import IMPORTING, PACKED, REOPENED, UPLOADED, Server, is_reopened

PAIRING, POOLS = "pairing.json", "pools.json"
PAIRING_PATH, POOLS_PATH = "/api/recorder/pairing", "/api/recorder/pools"
RECORDINGS_PATH = "/api/recorder/recordings"
PAIRING_VERSION = 1
LOOPBACK = ("localhost", "127.0.0.1", "::1")
GONE = ("not_signed_in", "recorder_revoked", "recorder_expired", "not_paired")
"""The platform no longer knows the pairing."""


@dataclass(frozen=True)
class Pairing:
    """The platform's address and the token of this computer. `name` is the person's name for this computer on the
    platform.
    """

    url: str
    token: str
    name: str
    expires_at: str


@dataclass(frozen=True)
class Brief:
    """A pool that takes recordings, and one of its tasks if the recording follows a task."""

    pool: int
    task: str = ""
    instruction: str = ""


class PairedServer(Server):
    """The platform as seen from a paired computer. Pools have the names that the platform lists."""

    uploads_path, imports_path = "/api/recorder/uploads", "/api/recorder/imports"

    def __init__(self, pairing: Pairing) -> None:
        super().__init__(pairing.url, pairing.token)

    def pool_name(self, pool: str) -> str:
        """Raises RecorderError with `no_pool`."""
        return str(find_pool(self.pools(), pool)["name"])

    def upload_metadata(self, session: Session, digest: str, pool: str) -> dict[str, str]:
        """Upload metadata as in `Server`, with the pool's id. Raises RecorderError with `no_pool`."""
        found = find_pool(self.pools(), pool)
        brief = session.manifest.get("brief") or {}
        task = brief["task"] if brief.get("pool") == found["id"] else ""
        again = "true" if is_reopened(session) else ""
        return {"session": session.id, "sha256": digest, "pool": str(found["id"]), "task": task, "again": again}

    def recording(self, session_id: str) -> dict[str, Any]:
        """State of one of this person's recordings: `state`, `deleted_at`. Raises RecorderError with `not_found`."""
        found: dict[str, Any] = self.call("GET", f"{RECORDINGS_PATH}/{session_id}").json()
        return found

    def pools(self) -> list[dict[str, Any]]:
        """The pools that take this person's recordings."""
        found: list[dict[str, Any]] = self.call("GET", POOLS_PATH).json()
        return found


def pair(home: Path, url: str, code: str, *, insecure: bool = False) -> Pairing:
    """Exchange a code for a token and store it, readable by its owner alone.

    Raises RecorderError: `already_paired`, `bad_url`, `insecure_url`, `server_version` if the platform has no pairing,
    else the platform's code (`pairing_code_wrong`, `pairing_code_used`, `pairing_code_expired`, `pairing_throttled`,
    `recorder_version`).
    """
    if (home / PAIRING).exists():
        raise RecorderError("already_paired", "This computer is paired already. Run `unpair` first.")
    server = Server(url, "")
    parts = urlsplit(url)
    if parts.scheme == "http" and parts.hostname not in LOOPBACK and not insecure:
        raise RecorderError("insecure_url", "Over http:// others can read the token. Use https://, or --insecure.")
    try:
        answer = server.post(PAIRING_PATH, {"code": code, "version": PAIRING_VERSION})
    except RecorderError as error:
        if error.code in ("not_found", "rejected"):
            raise RecorderError("server_version", "The platform is of a version that pairs no recorders.") from None
        raise
    pairing = Pairing(url.rstrip("/"), answer["token"], answer["name"], answer["expires_at"])
    _write_private(home / PAIRING, asdict(pairing))
    return pairing


def unpair(home: Path) -> Pairing:
    """End the pairing on the platform, then delete the token. If the platform is unreachable, nothing changes.

    Raises RecorderError with `not_paired` or `unreachable`.
    """
    pairing = load_pairing(home)
    try:
        PairedServer(pairing).call("DELETE", PAIRING_PATH)
    except RecorderError as error:
        if error.code not in GONE:
            raise
    for name in (PAIRING, POOLS):
        (home / name).unlink(missing_ok=True)
    return pairing


def reopen(server: PairedServer, session: Session) -> None:
    """Allow a session to be cut and uploaded again after its person deleted it on the platform. Hold the session's
    lock.

    Raises RecorderError with `not_uploaded`, `not_deleted` if the platform still has it, or `unreachable`. Then nothing
    changes.
    """
    folder = session.folder
    if is_reopened(session):
        return
    if not (folder / UPLOADED).exists() and not (folder / IMPORTING).exists():
        raise RecorderError("not_uploaded", "This session was not uploaded. You can cut and upload it as it is.")
    found = server.recording(session.id)
    if found["state"] != "deleted":
        message = "The platform still has this recording. Delete it there first, on the page Recorder."
        raise RecorderError("not_deleted", message)
    write_whole(folder / REOPENED, json.dumps({"deleted_at": found["deleted_at"]}).encode())
    for name in (UPLOADED, IMPORTING, PACKED):
        (folder / name).unlink(missing_ok=True)


def load_pairing(home: Path) -> Pairing:
    """Raises RecorderError with `not_paired`."""
    try:
        return Pairing(**json.loads((home / PAIRING).read_bytes()))
    except FileNotFoundError:
        message = "This computer is not paired. Make a code on the platform's page *Recorder*, then run `pair`."
        raise RecorderError("not_paired", message) from None
    except (ValueError, TypeError):
        raise RecorderError("not_paired", f"{PAIRING} cannot be read. Delete it and pair again.") from None


def is_paired(home: Path) -> bool:
    """Whether this computer has a pairing."""
    return (home / PAIRING).exists()


def refresh_pools(home: Path) -> list[dict[str, Any]]:
    """The pools that take this person's recordings. Stores them for `record`, which needs no network. Raises
    RecorderError.
    """
    pools = PairedServer(load_pairing(home)).pools()
    write_whole(home / POOLS, json.dumps(pools, ensure_ascii=False).encode())
    return pools


def find_brief(home: Path, pool: str, task: str) -> Brief:
    """A task, or with an empty `task` a pool, from the last listing of `pools`. An empty `pool` matches any.

    Raises RecorderError with `no_pools` (run `pools` first), `no_pool`, `no_brief`, or `pool_consent_needed` if the
    person has not agreed to the pool's terms.
    """
    try:
        pools = json.loads((home / POOLS).read_bytes())
    except (FileNotFoundError, ValueError):
        raise RecorderError("no_pools", "Run `pilothouse-recorder pools` first.") from None
    chosen = [find_pool(pools, pool)] if pool else pools
    if not task:
        _require_agreed(chosen[0])
        return Brief(chosen[0]["id"])
    for one in chosen:
        for brief in one["briefs"]:
            if brief["key"] == task:
                _require_agreed(one)
                return Brief(one["id"], task, brief["instruction"])
    raise RecorderError("no_brief", f"No pool has a task {task!r}. Run `pilothouse-recorder pools` again.")


def pool_terms(home: Path, pool: str, *, accept: bool = False, withdraw: bool = False) -> dict[str, Any]:
    """The terms of a pool, and whether this person has agreed. With `accept` the person agrees now, which the platform
    stores.

    Raises RecorderError with `no_pool`, `no_terms`, `consent_changed` or `not_withdrawable`.
    """
    if withdraw:
        raise RecorderError(
            "not_withdrawable", "On the platform's page Recorder you withdraw each recording by itself."
        )
    server = PairedServer(load_pairing(home))
    found = find_pool(refresh_pools(home), pool)
    terms = found.get("terms")
    if terms is None:
        raise RecorderError("no_terms", f"{found['name']} has no terms of its own.")
    if accept and not terms["agreed"]:
        body = json.dumps({"version": terms["version"]}).encode()
        server.call("POST", f"{POOLS_PATH}/{found['id']}/consent", {"Content-Type": "application/json"}, body)
        refresh_pools(home)
        terms = {**terms, "agreed": True}
    return {"pool": found["name"], **terms}


def _require_agreed(pool: dict[str, Any]) -> None:
    terms = pool.get("terms")
    if terms is not None and not terms["agreed"]:
        name = pool["id"]
        message = (
            f"Read the pool's terms with `consent --pool {name}`, then agree with `consent --pool {name} --accept`."
        )
        raise RecorderError("pool_consent_needed", message)


def find_pool(pools: list[dict[str, Any]], wanted: str) -> dict[str, Any]:
    """The pool with this id or name; if none is named, the only pool. Raises RecorderError with `no_pool`."""
    found = [one for one in pools if wanted in ("", str(one["id"]), one["name"])]
    if len(found) == 1:
        return found[0]
    if not pools:
        raise RecorderError("no_pool", "No pool takes your recordings. Ask an admin of the platform.")
    names = ", ".join(f"{one['id']} ({one['name']})" for one in pools)
    raise RecorderError("no_pool", f"Name the pool with --pool: {names}.")


def _write_private(path: Path, fields: dict[str, str]) -> None:
    """Atomically write a file that only its owner can read."""
    aside = path.with_name(path.name + ".tmp")
    aside.unlink(missing_ok=True)
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(fields, file)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)


def list_briefs(home: Path) -> dict[str, tuple[str, str]]:
    """The tasks from the last listing of `pools`: label to key and instruction."""
    try:
        pools = json.loads((home / POOLS).read_bytes())
    except (FileNotFoundError, ValueError):
        return {}
    return {
        f"{pool['name']}: {brief['key']}": (brief["key"], brief["instruction"])
        for pool in pools
        for brief in pool["briefs"]
    }
