"""Pairing with the platform: a code from the web page is exchanged for a token that only uploads this person's
recordings."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from .errors import RecorderError
from .sessions import Session, write_whole
from .uploads import Server

PAIRING, POOLS = "pairing.json", "pools.json"
PAIRING_PATH, POOLS_PATH = "/api/recorder/pairing", "/api/recorder/pools"
PAIRING_VERSION = 1
LOOPBACK = ("localhost", "127.0.0.1", "::1")
GONE = ("not_signed_in", "recorder_revoked", "recorder_expired", "not_paired")
"""The platform does not know the pairing any more."""


@dataclass(frozen=True)
class Pairing:
    """Where this computer uploads to, with which token; `name` is what the person calls this computer there."""

    url: str
    token: str
    name: str
    expires_at: str


@dataclass(frozen=True)
class Brief:
    """A pool that takes recordings, and a task of it where the recording follows one."""

    pool: int
    task: str = ""
    instruction: str = ""


class PairedServer(Server):
    """The platform as a paired computer sees it: pools are named as the platform lists them."""

    uploads_path, imports_path = "/api/recorder/uploads", "/api/recorder/imports"

    def __init__(self, pairing: Pairing) -> None:
        super().__init__(pairing.url, pairing.token)

    def pool_name(self, pool: str) -> str:
        """Raises RecorderError with `no_pool`."""
        return str(find_pool(self.pools(), pool)["name"])

    def upload_metadata(self, session: Session, digest: str, pool: str) -> dict[str, str]:
        """The same; pools are named by their ids. Raises RecorderError with `no_pool`."""
        found = find_pool(self.pools(), pool)
        brief = session.manifest.get("brief") or {}
        task = brief["task"] if brief.get("pool") == found["id"] else ""
        return {"session": session.id, "sha256": digest, "pool": str(found["id"]), "task": task}

    def pools(self) -> list[dict[str, Any]]:
        """The pools that take this person's recordings."""
        found: list[dict[str, Any]] = self.call("GET", POOLS_PATH).json()
        return found


def pair(home: Path, url: str, code: str, *, insecure: bool = False) -> Pairing:
    """Exchange a code for a token and store it, readable by its owner alone.

    Raises RecorderError: `already_paired`, `bad_url`, `insecure_url`, `server_version` where the platform knows no
    pairing, else the platform's code (`pairing_code_wrong`, `pairing_code_used`, `pairing_code_expired`,
    `pairing_throttled`, `recorder_version`).
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
    """End the pairing on the platform, then forget the token. Where the platform cannot be reached, nothing is
    changed. Raises RecorderError with `not_paired`, `unreachable`."""
    pairing = load_pairing(home)
    try:
        PairedServer(pairing).call("DELETE", PAIRING_PATH)
    except RecorderError as error:
        if error.code not in GONE:
            raise
    for name in (PAIRING, POOLS):
        (home / name).unlink(missing_ok=True)
    return pairing


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
    """The pools that take this person's recordings; kept for `record`, which needs no network. Raises RecorderError."""
    pools = PairedServer(load_pairing(home)).pools()
    write_whole(home / POOLS, json.dumps(pools, ensure_ascii=False).encode())
    return pools


def find_brief(home: Path, pool: str, task: str) -> Brief:
    """A task, or with an empty `task` a pool, of those that `pools` listed last. An empty `pool` is any.

    Raises RecorderError with `no_pools` (run `pools` first), `no_pool`, `no_brief`.
    """
    try:
        pools = json.loads((home / POOLS).read_bytes())
    except (FileNotFoundError, ValueError):
        raise RecorderError("no_pools", "Run `pilothouse-recorder pools` first.") from None
    chosen = [find_pool(pools, pool)] if pool else pools
    if not task:
        return Brief(chosen[0]["id"])
    for one in chosen:
        for brief in one["briefs"]:
            if brief["key"] == task:
                return Brief(one["id"], task, brief["instruction"])
    raise RecorderError("no_brief", f"No pool has a task {task!r}. Run `pilothouse-recorder pools` again.")


def find_pool(pools: list[dict[str, Any]], wanted: str) -> dict[str, Any]:
    """The pool of this id or name; the only one where none is named. Raises RecorderError with `no_pool`."""
    found = [one for one in pools if wanted in ("", str(one["id"]), one["name"])]
    if len(found) == 1:
        return found[0]
    if not pools:
        raise RecorderError("no_pool", "No pool takes your recordings. Ask an admin of the platform.")
    names = ", ".join(f"{one['id']} ({one['name']})" for one in pools)
    raise RecorderError("no_pool", f"Name the pool with --pool: {names}.")


def _write_private(path: Path, fields: dict[str, str]) -> None:
    """Write a file that only its owner can read, whole or not at all."""
    aside = path.with_name(path.name + ".tmp")
    aside.unlink(missing_ok=True)
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(fields, file)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)


def list_briefs(home: Path) -> dict[str, tuple[str, str]]:
    """The tasks that `pools` listed last, by how they are shown: key and instruction."""
    try:
        pools = json.loads((home / POOLS).read_bytes())
    except (FileNotFoundError, ValueError):
        return {}
    return {
        f"{pool['name']}: {brief['key']}": (brief["key"], brief["instruction"])
        for pool in pools
        for brief in pool["briefs"]
    }
