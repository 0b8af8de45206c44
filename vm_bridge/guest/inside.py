"""All of a sandbox that is no screen: what its acts do, and what programs may call beside them."""

import base64
import json
import sys
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vm_bridge.guest import files, shell
from vm_bridge.guest.act import ActFailed, Action, Attachment, Given
from vm_bridge.guest.companion import Companion
from vm_bridge.guest.watch import Watches

TERMINALS = (sys.executable, "-s", "-m", "vm_bridge.guest.terminals")
TOOLBOX = ("/image/tools/bin/python", "-m", "vm_bridge.guest.toolbox")
SERVERS = Path("/image/mcp.json")
"""The MCP servers an image brings along, in the shape `{"mcpServers": {name: {command, args, env}}}`."""
CHUNK = 4 * 1024 * 1024
"""Most bytes of a file in one message."""
KEPT = 2
"""Files on their way in, and files on their way out, that are kept at hand."""
ANSWER_SECONDS = 20.0
"""Longest a helper may take beyond what a call itself may."""
START_SECONDS = 85.0
"""Longest a helper may take to start what it needs, and to end what runs too long."""

Message = dict[str, Any]
Act = Callable[[Action], Given]
Call = Callable[[Message], Message]


class Inside:
    """Acts come from one thread, calls and `cut` from any."""

    def __init__(self, terminals: tuple[str, ...] = TERMINALS, toolbox: tuple[str, ...] = TOOLBOX) -> None:
        self._terminals = Companion("the terminals", terminals)
        self._toolbox = Companion("the toolbox", toolbox)
        self._watches = Watches()
        self._cut = shell.Cut()
        self._servers: Message = _servers_of_image()
        self._configured: Message = {}
        self._coming: OrderedDict[str, bytearray] = OrderedDict()
        self._going: OrderedDict[int, bytes] = OrderedDict()
        self.acts: dict[str, Act] = {
            **files.ACTIONS,
            "run_command": lambda action: shell.run_command(action, self._cut),
            "type_terminal": self._type_terminal,
            "upload_file": self._upload_file,
            "run_code": self._run_code,
            "call_tool": self._call_tool,
        }
        """What this does, by kind of action; each raises ActFailed."""
        self.calls: dict[str, Call] = {
            "put": self._put,
            "get": self._get,
            "files.list": lambda call: {"entries": files.entries(call["path"])},
            "files.stat": lambda call: {"entry": files.entry_of(call["path"])},
            "files.read": _read,
            "files.write": self._write,
            "files.delete": _delete,
            "files.watch": lambda call: {"changes": self._watches.changes(call["watch"], call["path"], call["wait"])},
            "files.unwatch": self._unwatch,
            "terminals.list": self._list_terminals,
            **{f"terminals.{op}": self._of_terminals(op) for op in ("write", "read", "resize", "close", "poll")},
            "tools.configure": self._configure,
            "tools.list": self._list_tools,
        }
        """What programs may call; each raises ActFailed. Some wait as long as they are told to."""

    def cut(self) -> None:
        """Cut a running act short."""
        self._cut.set()
        self._terminals.tell("hurry")
        self._toolbox.tell("interrupt")

    def attempt(self, act: Act, action: Action) -> Message:
        """What an act gave, or why it failed; an attachment is fetched by its key."""
        self._cut.clear()
        try:
            given = act(action)
        except ActFailed as failure:
            error = {"code": failure.code, "message": str(failure)}
            return {"text": failure.text, "error": error, "attachment": None}
        return {"text": given.text, "error": None, "attachment": self._offer(given.attachment)}

    def terminal(self) -> str:
        """What the first terminal shows, or why it shows nothing; it begins when it is first looked at."""
        try:
            shown: str = self._terminals.call("type", timeout=ANSWER_SECONDS, session="main", text="")["text"]
        except ActFailed as failure:
            return f"[{failure}]"
        return shown

    # --- acts

    def _type_terminal(self, action: Action) -> Given:
        told = {"session": action["session"], "text": action["text"]}
        return Given(self._terminals.call("type", timeout=ANSWER_SECONDS, **told)["text"])

    def _upload_file(self, action: Action) -> Given:
        self._write({"path": action["path"], "sha256": action["blob"]["sha256"]})
        return Given(f"{action['blob']['size']} bytes")

    def _run_code(self, action: Action) -> Given:
        told = {"code": action["code"], "seconds": action["timeout"]}
        return _given(self._toolbox.call("run_code", timeout=action["timeout"] + START_SECONDS, **told))

    def _call_tool(self, action: Action) -> Given:
        self._equip()
        told = {"name": action["name"], "arguments": action["arguments"]}
        return _given(self._toolbox.call("call_tool", timeout=START_SECONDS, **told))

    # --- files that come and go

    def _put(self, call: Message) -> Message:
        """Take the next bytes of a file that is on its way in."""
        coming = self._coming.setdefault(call["sha256"], bytearray())
        del coming[call["offset"] :]
        coming += base64.b64decode(call["data"])
        while len(self._coming) > KEPT:
            self._coming.popitem(last=False)
        return {}

    def _write(self, call: Message) -> Message:
        """Make a file of what came."""
        data = self._coming.pop(call["sha256"], None)
        if data is None:
            raise ActFailed("not_staged", "the file's bytes did not arrive")
        files.write_bytes(call["path"], bytes(data))
        return {}

    def _offer(self, attachment: Attachment | None) -> Message | None:
        if attachment is None:
            return None
        key = max(self._going, default=0) + 1
        self._going[key] = attachment.data
        while len(self._going) > KEPT:
            self._going.popitem(last=False)
        return {"key": key, "media_type": attachment.media_type, "size": len(attachment.data)}

    def _get(self, call: Message) -> Message:
        """Some bytes of a file that is on its way out; a part that is not full is the last, and ends its keeping."""
        data = self._going.get(call["key"])
        if data is None:
            raise ActFailed("not_kept", "the file is no longer kept")
        part = data[call["offset"] : call["offset"] + CHUNK]
        if len(part) < CHUNK:
            del self._going[call["key"]]
        return {"data": _encoded(part)}

    # --- watches, terminals and tools

    def _unwatch(self, call: Message) -> Message:
        self._watches.end(call["watch"])
        return {}

    def _list_terminals(self, call: Message) -> Message:
        if not self._terminals.running:
            return {"terminals": []}
        return self._terminals.call("list", timeout=ANSWER_SECONDS)

    def _of_terminals(self, op: str) -> Call:
        return lambda call: self._terminals.call(op, timeout=call.get("wait", 0.0) + ANSWER_SECONDS, **call["told"])

    def _configure(self, call: Message) -> Message:
        """Have these MCP servers beside the image's own."""
        self._configured = call["servers"]
        return {}

    def _list_tools(self, call: Message) -> Message:
        if not self._servers and not self._configured:
            return {"tools": [], "failures": {}}
        self._equip()
        return self._toolbox.call("tools", timeout=START_SECONDS)

    def _equip(self) -> None:
        """Tell the toolbox which servers there are; a new one knows none."""
        servers = {**self._servers, **self._configured}
        self._toolbox.call("configure", timeout=ANSWER_SECONDS, servers=servers)


def _servers_of_image() -> Message:
    if not SERVERS.exists():
        return {}
    servers: Message = json.loads(SERVERS.read_text())["mcpServers"]
    return servers


def _read(call: Message) -> Message:
    return {"data": _encoded(files.read_bytes(call["path"], CHUNK, call["offset"]))}


def _delete(call: Message) -> Message:
    files.delete(call["path"], recursive=call["recursive"])
    return {}


def _given(answer: Message) -> Given:
    """What the toolbox gave: text, and a picture as PNG."""
    picture = answer["picture"]
    return Given(answer["text"], Attachment(base64.b64decode(picture), "image/png") if picture else None)


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()
