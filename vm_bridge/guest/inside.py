"""All of a sandbox that is no screen: what its acts do, and what programs may call beside them."""

import base64
import json
import sys
from pathlib import Path

from vm_bridge.guest import shell
from vm_bridge.guest.act import ActFailed, Action, Attachment, Given
from vm_bridge.guest.companion import Companion
from vm_bridge.guest.holdings import Act, Call, Holdings, Message
from vm_bridge.guest.watch import Watches

TERMINALS = (sys.executable, "-s", "-m", "vm_bridge.guest.terminals")
TOOLBOX = ("/image/tools/bin/python", "-m", "vm_bridge.guest.toolbox")
SERVERS = Path("/image/mcp.json")
"""The MCP servers an image brings along, in the shape `{"mcpServers": {name: {command, args, env}}}`."""
ANSWER_SECONDS = 20.0
"""Longest a helper may take beyond what a call itself may."""
START_SECONDS = 85.0
"""Longest a helper may take to start what it needs, and to end what runs too long."""


class Inside(Holdings):
    """See `Holdings`; this one is Linux's."""

    def __init__(self, terminals: tuple[str, ...] = TERMINALS, toolbox: tuple[str, ...] = TOOLBOX) -> None:
        super().__init__()
        self._terminals = Companion("the terminals", terminals)
        self._toolbox = Companion("the toolbox", toolbox)
        self._watches = Watches()
        self._cut = shell.Cut()
        self._servers: Message = _servers_of_image()
        self._configured: Message = {}
        self.acts |= {
            "run_command": lambda action: shell.run_command(action, self._cut),
            "type_terminal": self._type_terminal,
            "run_code": self._run_code,
            "call_tool": self._call_tool,
        }
        self.calls |= {
            "files.watch": lambda call: {"changes": self._watches.changes(call["watch"], call["path"], call["wait"])},
            "files.unwatch": self._unwatch,
            "terminals.list": self._list_terminals,
            **{f"terminals.{op}": self._of_terminals(op) for op in ("write", "read", "resize", "close", "poll")},
            "tools.configure": self._configure,
            "tools.list": self._list_tools,
        }

    def cut(self) -> None:
        """Cut a running act short."""
        self._cut.set()
        self._terminals.tell("hurry")
        self._toolbox.tell("interrupt")

    def attempt(self, act: Act, action: Action) -> Message:
        self._cut.clear()
        return super().attempt(act, action)

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

    def _run_code(self, action: Action) -> Given:
        told = {"code": action["code"], "seconds": action["timeout"]}
        return _given(self._toolbox.call("run_code", timeout=action["timeout"] + START_SECONDS, **told))

    def _call_tool(self, action: Action) -> Given:
        self._equip()
        told = {"name": action["name"], "arguments": action["arguments"]}
        return _given(self._toolbox.call("call_tool", timeout=START_SECONDS, **told))

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


def _given(answer: Message) -> Given:
    """What the toolbox gave: text, and a picture as PNG."""
    picture = answer["picture"]
    return Given(answer["text"], Attachment(base64.b64decode(picture), "image/png") if picture else None)
