"""Base of the guest's files and tools on every system: file actions, file transfer, and digests."""

import base64
import hashlib
import os
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from vm_bridge.guest.common import files
from vm_bridge.guest.common.actions import Action, ActionFailed, ActionOutput, Attachment

CHUNK = 4 * 1024 * 1024
"""Maximum bytes of a file per message."""
MAX_STAGED_FILES = 2
"""Maximum stored files in each direction."""

Message = dict[str, Any]
ActionHandler = Callable[[Action], ActionOutput]
CallHandler = Callable[[Message], Message]


class MachineIO:
    """Actions come from one thread; calls and `interrupt` from any."""

    def __init__(self, file_system: files.FileSystem = files) -> None:
        self._files = file_system
        self._incoming: OrderedDict[str, bytearray] = OrderedDict()
        self._outgoing: OrderedDict[int, bytes] = OrderedDict()
        self.action_handlers: dict[str, ActionHandler] = {
            **files.file_actions(file_system),
            "upload_file": self._upload_file,
        }
        """Actions by kind; each raises ActionFailed."""
        self.call_handlers: dict[str, CallHandler] = {
            "put": self._put,
            "get": self._get,
            "files.list": lambda call: {"entries": file_system.entries(call["path"])},
            "files.stat": lambda call: {"entry": file_system.entry_of(call["path"])},
            "files.read": self._read,
            "files.write": self._write,
            "files.delete": self._delete,
        }
        """Calls of programs; each raises ActionFailed. Some wait up to a given time."""

    def interrupt(self) -> None:
        """Interrupt a running action."""
        raise NotImplementedError

    def terminal(self) -> str:
        """The text of the first terminal, on machines where it replaces the picture."""
        raise NotImplementedError

    def run_action(self, act: ActionHandler, action: Action) -> Message:
        """The result of an action, or why it failed. An attachment is fetched by its key."""
        try:
            output = act(action)
        except ActionFailed as failure:
            error = {"code": failure.code, "message": str(failure)}
            return {"text": failure.text, "error": error, "attachment": None}
        return {"text": output.text, "error": None, "attachment": self._stage_attachment(output.attachment)}

    def _upload_file(self, action: Action) -> ActionOutput:
        self._write({"path": action["path"], "sha256": action["blob"]["sha256"]})
        return ActionOutput(f"{action['blob']['size']} bytes")

    def _put(self, call: Message) -> Message:
        """Receive the next bytes of an incoming file."""
        incoming = self._incoming.setdefault(call["sha256"], bytearray())
        del incoming[call["offset"] :]
        incoming += base64.b64decode(call["data"])
        while len(self._incoming) > MAX_STAGED_FILES:
            self._incoming.popitem(last=False)
        return {}

    def _write(self, call: Message) -> Message:
        """Write the received bytes to a file."""
        data = self._incoming.pop(call["sha256"], None)
        if data is None:
            raise ActionFailed("not_staged", "the file's bytes did not arrive")
        self._files.write_bytes(call["path"], bytes(data))
        return {}

    def _stage_attachment(self, attachment: Attachment | None) -> Message | None:
        if attachment is None:
            return None
        key = max(self._outgoing, default=0) + 1
        self._outgoing[key] = attachment.data
        while len(self._outgoing) > MAX_STAGED_FILES:
            self._outgoing.popitem(last=False)
        return {"key": key, "media_type": attachment.media_type, "size": len(attachment.data)}

    def _get(self, call: Message) -> Message:
        """Bytes of an outgoing file. A part that is not full is the last, and the file is then discarded."""
        data = self._outgoing.get(call["key"])
        if data is None:
            raise ActionFailed("not_kept", "the file is no longer kept")
        part = data[call["offset"] : call["offset"] + CHUNK]
        if len(part) < CHUNK:
            del self._outgoing[call["key"]]
        return {"data": _encode(part)}

    def _read(self, call: Message) -> Message:
        return {"data": _encode(self._files.read_bytes(call["path"], CHUNK, call["offset"]))}

    def _delete(self, call: Message) -> Message:
        self._files.delete(call["path"], recursive=call["recursive"])
        return {}


def _encode(data: bytes) -> str:
    return base64.b64encode(data).decode()


def home_digest() -> str:
    """Digest of the home folder, without hidden files."""
    return tree_digest(Path.home(), hidden=False)


def tree_digest(folder: Path, *, hidden: bool = True) -> str:
    """Covers every path, kind, permission and content, in a fixed order; not times and owners.

    Without `hidden` it omits names with a leading dot. Files that vanish meanwhile are skipped.
    """
    sums = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if hidden or not any(part.startswith(".") for part in path.relative_to(folder).parts):
            with suppress(FileNotFoundError):
                sums.update(_entry(path, path.relative_to(folder)))
    return sums.hexdigest()


def _entry(path: Path, name: Path) -> bytes:
    mode = path.lstat().st_mode
    content = os.readlink(path).encode() if path.is_symlink() else path.read_bytes() if path.is_file() else b""
    return f"{name}\0{mode:o}\0{len(content)}\0".encode() + content
