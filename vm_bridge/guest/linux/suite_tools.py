"""Tools for suites inside a Linux guest: set up and verify a task, in addition to actions."""

import os
import select
import time
from collections.abc import Callable
from typing import Any

from Xlib import X, display, error

from vm_bridge.guest.common import files
from vm_bridge.guest.common.actions import MAX_OUTPUT, ActionFailed
from vm_bridge.guest.common.machine_io import home_digest
from vm_bridge.guest.linux import shell
from vm_bridge.guest.linux.attempt_processes import AttemptProcesses


def wait_for_window(title: str, seconds: float) -> bool:
    """Whether a window whose title contains `title` appears within `seconds`."""
    server = display.Display()
    try:
        return _wait_for_title(server, title, time.monotonic() + seconds)
    finally:
        server.close()


def _wait_for_title(server: display.Display, title: str, ends: float) -> bool:
    server.screen().root.change_attributes(event_mask=X.PropertyChangeMask)
    while not any(title in window_title for window_title in _window_titles(server)):
        if not server.pending_events() and not select.select([server], [], [], max(0.0, ends - time.monotonic()))[0]:
            return False
        while server.pending_events():
            server.next_event()
    return True


def _window_titles(server: display.Display) -> list[str]:
    """The titles of all managed windows. Subscribes the caller to later changes."""
    clients = server.screen().root.get_full_property(server.intern_atom("_NET_CLIENT_LIST"), X.AnyPropertyType)
    titles = []
    for identifier in clients.value if clients is not None else ():
        window = server.create_resource_object("window", identifier)
        try:
            window.change_attributes(event_mask=X.PropertyChangeMask)
            name = window.get_full_property(server.intern_atom("_NET_WM_NAME"), X.AnyPropertyType)
            named = name.value.decode("utf-8", "replace") if name is not None else window.get_wm_name()
        except error.BadWindow:
            continue  # it closed meanwhile
        titles.append(str(named or ""))
    return titles


Message = dict[str, Any]
STARTED = int(time.time())
"""Modification time of every file that a suite writes. The desktop orders its icons by time, so files of one task
written across the change of a second would lie elsewhere in each attempt."""


def run(call: Message) -> Message:
    """A command's exit status (None when its time ran out) and output."""
    try:
        output, code = shell.run(call["argv"], timeout=call["seconds"])
    except ActionFailed as failure:
        return {"code": 127, "output": str(failure)}
    return {"code": code, "output": output[:MAX_OUTPUT].decode("utf-8", "replace")}


def read(call: Message) -> Message:
    """A file's text; None when there is none."""
    try:
        return {"text": files.read_file(call, files).text}
    except ActionFailed:
        return {"text": None}


def write(call: Message) -> Message:
    """Writes a file with the time `STARTED`, or says why not."""
    return _failure_message(_write_dated, call)


def start(call: Message) -> Message:
    """Starts a program, or says why not."""
    return _failure_message(lambda arguments: shell.start(tuple(arguments["argv"])), call)


def window(call: Message) -> Message:
    """Waits for a window by its title."""
    return {"found": wait_for_window(call["title"], call["seconds"])}


def digest(_: Message) -> Message:
    """Digest of the person's files."""
    return {"digest": home_digest()}


_processes = AttemptProcesses()
TOOLS: dict[str, Callable[[Message], Message]] = {
    **{tool.__name__: tool for tool in (run, read, write, start, window, digest)},
    "mark_processes": _processes.mark,
    "end_processes": _processes.end,
}
"""Every tool by its name."""


def _write_dated(call: Message) -> None:
    files.write_file(call, files)
    os.utime(files.resolve_path(call["path"]), (STARTED, STARTED))


def _failure_message(act: Callable[[Message], Any], call: Message) -> Message:
    try:
        act(call)
    except ActionFailed as failure:
        return {"failed": str(failure)}
    return {"failed": None}
