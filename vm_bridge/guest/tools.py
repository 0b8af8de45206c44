"""What a suite may do inside the sandbox to set a task up and to judge it, beside the actions of a machine."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from vm_bridge.guest import files, shell
from vm_bridge.guest.act import MAX_OUTPUT, ActFailed
from vm_bridge.guest.digest import tree_digest
from vm_bridge.guest.windows import wait_for_window

Message = dict[str, Any]


def run(call: Message) -> Message:
    """A command's exit status (None when its time ran out) and output."""
    try:
        output, code = shell.run(call["argv"], timeout=call["seconds"])
    except ActFailed as failure:
        return {"code": 127, "output": str(failure)}
    return {"code": code, "output": output[:MAX_OUTPUT].decode("utf-8", "replace")}


def read(call: Message) -> Message:
    """A file's text; None when there is none."""
    try:
        return {"text": files.read_file(call).text}
    except ActFailed:
        return {"text": None}


def write(call: Message) -> Message:
    """Writes a file, or says why not."""
    return _told(files.write_file, call)


def start(call: Message) -> Message:
    """Starts a program, or says why not."""
    return _told(lambda given: shell.start(tuple(given["argv"])), call)


def window(call: Message) -> Message:
    """Waits for a window by its title."""
    return {"found": wait_for_window(call["title"], call["seconds"])}


def digest(_: Message) -> Message:
    """Of the home folder, but for what programs hide there."""
    return {"digest": tree_digest(Path.home(), hidden=False)}


TOOLS: dict[str, Callable[[Message], Message]] = {
    tool.__name__: tool for tool in (run, read, write, start, window, digest)
}
"""Every tool by its name."""


def _told(act: Callable[[Message], Any], call: Message) -> Message:
    try:
        act(call)
    except ActFailed as failure:
        return {"failed": str(failure)}
    return {"failed": None}
