"""Files and folders of the sandbox. Paths start at the home folder. Endless files are not read."""

import errno
import os
import shutil
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from vm_bridge.guest.common.actions import MAX_OUTPUT, Action, ActionFailed, ActionOutput, Attachment, bounded_text

MAX_EDITED = 4 * 1024 * 1024
"""Maximum size of a file for `edit_file` (bytes)."""
MAX_FILE = 32 * 1024 * 1024
"""Maximum size of an exported file (bytes)."""
MAX_ENTRIES = 1_000
"""Maximum listed entries of a folder."""
PICTURES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}
"""Signatures of files that are shown as pictures."""
UNFINISHED = ".writing"
"""Suffix of incomplete files."""
NONBLOCKING = getattr(os, "O_NONBLOCK", 0)
"""Opens a pipe without waiting for its other end; Windows has no pipes among its files."""
KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}

Entry = dict[str, Any]
"""`name`, `kind` (file, folder, link, other), `size` (bytes), `modified` (seconds since the epoch)."""


class FileSystem(Protocol):
    """Files of a sandbox. This module implements it for its own process. Each function raises ActionFailed."""

    def entries(self, path: str) -> list[Entry]: ...

    def entry_of(self, path: str) -> Entry: ...

    def read_bytes(self, path: str, most: int, offset: int = 0) -> bytes: ...

    def write_bytes(self, path: str, data: bytes) -> None: ...

    def delete(self, path: str, *, recursive: bool) -> None: ...


def file_actions(system: FileSystem) -> dict[str, Callable[[Action], ActionOutput]]:
    """The file actions, by kind of action."""
    acts = (list_files, read_file, write_file, edit_file, download_file)
    return {act.__name__: partial(act, system=system) for act in acts}


def list_files(action: Action, system: FileSystem) -> ActionOutput:
    """A folder's entries, one per line: name, kind, size and time separated by tabs. Raises ActionFailed."""
    found = system.entries(action["path"])
    lines = [_format_entry(entry) for entry in found[:MAX_ENTRIES]]
    if len(found) > MAX_ENTRIES:
        lines.append(f"[cut after {MAX_ENTRIES} entries]")
    return ActionOutput(bounded_text("\n".join(lines).encode("utf-8", "replace")) if lines else "[empty]")


def read_file(action: Action, system: FileSystem) -> ActionOutput:
    """A file's text, bounded. Raises ActionFailed."""
    return ActionOutput(bounded_text(system.read_bytes(action["path"], MAX_OUTPUT + 1)))


def write_file(action: Action, system: FileSystem) -> ActionOutput:
    """Create or replace a file, and the folders above it. Raises ActionFailed."""
    system.write_bytes(action["path"], action["text"].encode())
    return ActionOutput()


def edit_file(action: Action, system: FileSystem) -> ActionOutput:
    """Replace the only occurrence of `old`. Raises ActionFailed if there is none or more than one."""
    data = system.read_bytes(action["path"], MAX_EDITED + 1)
    if len(data) > MAX_EDITED:
        raise ActionFailed("too_long", f"{action['path']} has more than {MAX_EDITED} bytes")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ActionFailed("not_text", f"{action['path']} is not text") from error
    count = text.count(action["old"])
    if count != 1:
        raise ActionFailed("no_single_match", f"the old text occurs {count} times in {action['path']}, not once")
    system.write_bytes(action["path"], text.replace(action["old"], action["new"]).encode())
    return ActionOutput()


def download_file(action: Action, system: FileSystem) -> ActionOutput:
    """A whole file. Raises ActionFailed."""
    data = system.read_bytes(action["path"], MAX_FILE + 1)
    if len(data) > MAX_FILE:
        raise ActionFailed("too_long", f"{action['path']} has more than {MAX_FILE} bytes")
    return ActionOutput(f"{len(data)} bytes", Attachment(data, _media_type(data)))


def entries(path: str) -> list[Entry]:
    """The entries of a folder by name, at most `MAX_ENTRIES` + 1. Raises ActionFailed."""
    found = []
    try:
        with os.scandir(resolve_path(path)) as folder:
            for entry in folder:
                with suppress(FileNotFoundError):  # deleted meanwhile
                    found.append(_entry(entry.name, entry.stat(follow_symlinks=False)))
                if len(found) > MAX_ENTRIES:
                    break
    except OSError as error:
        raise _failed("cannot_list", path, error) from error
    return sorted(found, key=lambda entry: str(entry["name"]))


def entry_of(path: str) -> Entry:
    """One file or folder; a link is followed. Raises ActionFailed."""
    where = resolve_path(path)
    try:
        return _entry(where.name, where.stat())
    except OSError as error:
        raise _failed("cannot_read", path, error) from error


def read_bytes(path: str, most: int, offset: int = 0) -> bytes:
    """Read bytes of a regular file; a pipe or a device might never end. Raises ActionFailed."""
    try:
        with open(resolve_path(path), "rb", opener=_regular) as file:
            file.seek(offset)
            return file.read(most)
    except OSError as error:
        raise _failed("cannot_read", path, error) from error


def write_bytes(path: str, data: bytes) -> None:
    """Atomically create or replace a file, and create its parent folders. Raises ActionFailed."""
    where = resolve_path(path)
    fresh = where.parent / f".{where.name[:200]}{UNFINISHED}"
    try:
        where.parent.mkdir(parents=True, exist_ok=True)
        fresh.unlink(missing_ok=True)  # never write through an existing link
        with fresh.open("xb") as file:
            file.write(data)
        if where.exists():
            fresh.chmod(where.stat().st_mode & 0o7777)
        fresh.replace(where)
    except OSError as error:
        with suppress(OSError):
            fresh.unlink()
        raise _failed("cannot_write", path, error) from error


def delete(path: str, *, recursive: bool) -> None:
    """Remove a file, a link or an empty folder; with `recursive` any folder. Raises ActionFailed."""
    where = resolve_path(path)
    try:
        if not where.is_dir() or where.is_symlink():
            where.unlink()
        elif recursive:
            shutil.rmtree(where)
        else:
            where.rmdir()
    except OSError as error:
        raise _failed("cannot_delete", path, error) from error


def resolve_path(path: str) -> Path:
    """Resolve a path relative to the home folder. Raises ActionFailed."""
    try:
        return Path.home() / Path(path).expanduser()
    except RuntimeError as error:  # "~name" of an unknown user
        raise ActionFailed("no_such_user", f"{path}: there is no such user") from error


def _media_type(data: bytes) -> str:
    """The media type: a picture's, or plain bytes."""
    return next((name for start, name in PICTURES.items() if data.startswith(start)), "application/octet-stream")


def kind_of(mode: int) -> str:
    """The kind for a file mode: file, folder, link, other."""
    return KINDS.get(stat.S_IFMT(mode), "other")


def _entry(name: str, status: os.stat_result) -> Entry:
    display_name = os.fsencode(name).decode("utf-8", "replace")
    return {"name": display_name, "kind": kind_of(status.st_mode), "size": status.st_size, "modified": status.st_mtime}


def _format_entry(entry: Entry) -> str:
    name = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in entry["name"])
    changed = time.strftime("%Y-%m-%d %H:%M:%S+00:00", time.gmtime(entry["modified"]))
    return f"{name}\t{entry['kind']}\t{entry['size']}\t{changed}"


def _failed(code: str, path: str, error: OSError) -> ActionFailed:
    return ActionFailed(code, f"{path}: {error.strerror}")


def _regular(path: str, flags: int) -> int:
    """Open a regular file. Raises OSError."""
    descriptor = os.open(path, flags | NONBLOCKING)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "it is not a regular file")
