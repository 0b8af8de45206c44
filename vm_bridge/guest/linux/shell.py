"""Commands, programs and the clipboard of the sandbox."""

import os
import selectors
import signal
import subprocess
import time
from pathlib import Path

from vm_bridge.guest.common.actions import MAX_OUTPUT, Action, ActionFailed, ActionOutput, bounded_text

CLIPBOARD_SECONDS = 5.0
APPS = {
    "terminal": ("xterm",),
    "xterm": ("xterm",),
    "editor": ("mousepad",),
    "mousepad": ("mousepad",),
    "files": ("pcmanfm", "--no-desktop"),
    "pcmanfm": ("pcmanfm", "--no-desktop"),
    "calculator": ("galculator",),
    "galculator": ("galculator",),
    "browser": ("chromium",),
    "chromium": ("chromium",),
}
"""Programs `open_app` starts, by the names people use."""


class InterruptFlag:
    """Interrupts a running command; may be set from another thread."""

    def __init__(self) -> None:
        self._event = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)

    def fileno(self) -> int:
        return self._event

    def set(self) -> None:
        """Interrupt the running command."""
        os.eventfd_write(self._event, 1)

    def clear(self) -> None:
        """Reset before something new runs."""
        try:
            os.eventfd_read(self._event)
        except BlockingIOError:
            return  # it was not set


def run_command(action: Action, interrupt: InterruptFlag | None = None) -> ActionOutput:
    """The combined output of one command line. Raises ActionFailed on timeout or interrupt."""
    began = time.monotonic()
    output, status = run(["bash", "-c", action["command"]], timeout=action["timeout"], interrupt=interrupt)
    text = bounded_text(output)
    if status is None and time.monotonic() - began < action["timeout"]:
        raise ActionFailed("cut_short", "the command was cut short", text)
    if status is None:
        raise ActionFailed("timed_out", f"the command did not end within {action['timeout']:g} s", text)
    return ActionOutput(text if status == 0 else f"{text}\n[exit status {status}]".lstrip("\n"))


def run(
    command: list[str], *, timeout: float, stdin: bytes | None = None, interrupt: InterruptFlag | None = None
) -> tuple[bytes, int | None]:
    """Bounded output and exit status of a command. The status is None on timeout or interrupt, and then its process
    group is killed.

    A process that it leaves behind with the output open delays no one beyond the command's own end. Raises ActionFailed
    if it cannot be started.
    """
    reader, writer = os.pipe()
    try:
        process = _begin(command, stdin, writer)
        output = _collect(reader, process, time.monotonic() + timeout, interrupt)
    finally:
        os.close(reader)
    status = process.poll()
    if status is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return output, status


def open_app(action: Action) -> ActionOutput:
    """Start a program by people's name for it. Raises ActionFailed if there is none."""
    command = APPS.get(action["name"].strip().lower())
    if command is None:
        raise ActionFailed("no_such_app", f"there is no {action['name']!r}; there are {', '.join(sorted(APPS))}")
    start(command)
    return ActionOutput()


def start(command: tuple[str, ...]) -> None:
    """Start a program that lives on by itself. Raises ActionFailed if it is not installed."""
    try:
        subprocess.Popen(
            *(command,),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=Path.home(),
            start_new_session=True,
        )
    except OSError as error:
        raise ActionFailed("not_installed", f"{command[0]}: {error.strerror}") from error


def set_clipboard(action: Action) -> ActionOutput:
    """Put text on the clipboard; a small program holds it from then on. Raises ActionFailed."""
    text = action["text"].encode()
    output, status = run(["xclip", "-selection", "clipboard", "-in"], timeout=CLIPBOARD_SECONDS, stdin=text)
    if status != 0:
        raise ActionFailed(
            "cannot_copy", f"nothing was copied: {bounded_text(output).strip() or 'xclip did not answer'}"
        )
    return ActionOutput()


def get_clipboard(_action: Action) -> ActionOutput:
    """The clipboard's text; empty when nothing is on it."""
    output, status = run(
        ["xclip", "-selection", "clipboard", "-out", "-target", "UTF8_STRING"], timeout=CLIPBOARD_SECONDS
    )
    return ActionOutput(bounded_text(output) if status == 0 else "")


ACTIONS = {act.__name__: act for act in (open_app, set_clipboard, get_clipboard)}
"""Actions that need a desktop, by kind."""


def _begin(command: list[str], stdin: bytes | None, writer: int) -> "subprocess.Popen[bytes]":
    """Start a command that writes to `writer`, which is closed here. Raises ActionFailed.

    It reads from a file in memory, so a command that does not read blocks no one.
    """
    source = os.open(os.devnull, os.O_RDONLY) if stdin is None else os.memfd_create("stdin")
    try:
        if stdin is not None:
            os.pwrite(source, stdin, 0)
        return subprocess.Popen(command, stdin=source, stdout=writer, stderr=writer, cwd=Path.home(), process_group=0)
    except OSError as error:
        raise ActionFailed("cannot_run", f"{command[0]}: {error.strerror}") from error
    finally:
        os.close(source)
        os.close(writer)


def _collect(reader: int, process: "subprocess.Popen[bytes]", ends: float, interrupt: InterruptFlag | None) -> bytes:
    """Output until the output or the process ends, the time is over, or it is interrupted."""
    captured = bytearray()
    ended = os.pidfd_open(process.pid)
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(reader, selectors.EVENT_READ)
            selector.register(ended, selectors.EVENT_READ)
            if interrupt is not None:
                selector.register(interrupt, selectors.EVENT_READ)
            while (left := ends - time.monotonic()) > 0:
                ready = {key.fd for key, _ in selector.select(left)}
                if reader in ready:
                    chunk = os.read(reader, 65_536)
                    captured += chunk[: MAX_OUTPUT + 1 - len(captured)]
                    if not chunk:
                        process.wait(max(0.0, ends - time.monotonic()))
                        break
                elif ended in ready:
                    process.wait()
                    break
                else:  # interrupted
                    break
    except subprocess.TimeoutExpired:
        pass
    finally:
        os.close(ended)
    return bytes(captured)
