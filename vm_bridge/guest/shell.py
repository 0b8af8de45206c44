"""Commands, files, programs and the clipboard of the sandbox."""

import errno
import os
import selectors
import signal
import stat
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

MAX_OUTPUT = 64 * 1024
"""Longest output of a command or a file's text (bytes); what lies beyond is cut and said so."""
MAX_EDITED = 4 * 1024 * 1024
"""Longest file that is edited (bytes)."""
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

Action = dict[str, Any]


class ActFailed(Exception):
    """The act was tried and did not work; `code` is stable."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.text: str | None = None


def run_command(action: Action) -> str:
    """The combined output of one command line. Raises ActFailed when its time runs out."""
    output, status = run(["bash", "-c", action["command"]], timeout=action["timeout"])
    text = _text(output)
    if status is None:
        failure = ActFailed("timed_out", f"the command did not end within {action['timeout']:g} s")
        failure.text = text
        raise failure
    return text if status == 0 else f"{text}\n[exit status {status}]".lstrip("\n")


def run(command: list[str], *, timeout: float, stdin: bytes | None = None) -> tuple[bytes, int | None]:
    """Output, bounded, and exit status of a command; None when its time ran out, and its process group is killed.

    A process it leaves behind that still holds the output keeps nobody waiting beyond the command's own end.
    Raises ActFailed when it cannot be started.
    """
    reader, writer = os.pipe()
    try:
        process = _begin(command, stdin, writer)
        output = _collect(reader, process, time.monotonic() + timeout)
    finally:
        os.close(reader)
    status = process.poll()
    if status is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return output, status


def read_file(action: Action) -> str:
    """A file's text, bounded. Raises ActFailed."""
    return _text(_read(action, MAX_OUTPUT + 1))


def write_file(action: Action) -> None:
    """Create or replace a file, and the folders above it. Raises ActFailed."""
    path = _path(action)
    fresh = path.parent / f".{path.name[:200]}.writing"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.unlink(missing_ok=True)  # whatever lies there is not to be written through
        with fresh.open("x", encoding="utf-8", newline="") as file:
            file.write(action["text"])
        if path.exists():
            fresh.chmod(path.stat().st_mode & 0o7777)
        fresh.replace(path)
    except OSError as error:
        with suppress(OSError):
            fresh.unlink()
        raise ActFailed("cannot_write", f"{action['path']}: {error.strerror}") from error


def edit_file(action: Action) -> None:
    """Replace the one occurrence of `old`. Raises ActFailed when there is none or more than one."""
    data = _read(action, MAX_EDITED + 1)
    if len(data) > MAX_EDITED:
        raise ActFailed("too_long", f"{action['path']} has more than {MAX_EDITED} bytes")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ActFailed("not_text", f"{action['path']} is not text") from error
    count = text.count(action["old"])
    if count != 1:
        raise ActFailed("no_single_match", f"the old text occurs {count} times in {action['path']}, not once")
    write_file({"path": action["path"], "text": text.replace(action["old"], action["new"])})


def open_app(action: Action) -> None:
    """Start a program by the name people use. Raises ActFailed when there is none of that name."""
    command = APPS.get(action["name"].strip().lower())
    if command is None:
        raise ActFailed("no_such_app", f"there is no {action['name']!r}; there are {', '.join(sorted(APPS))}")
    start(command)


def start(command: tuple[str, ...]) -> None:
    """Start a program that lives on by itself. Raises ActFailed when it is not installed."""
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
        raise ActFailed("not_installed", f"{command[0]}: {error.strerror}") from error


def set_clipboard(action: Action) -> None:
    """Put text on the clipboard; a small program holds it from then on."""
    run(["xclip", "-selection", "clipboard", "-in"], timeout=CLIPBOARD_SECONDS, stdin=action["text"].encode())


def get_clipboard(_action: Action) -> str:
    """The clipboard's text; empty when nothing is on it."""
    output, status = run(
        ["xclip", "-selection", "clipboard", "-out", "-target", "UTF8_STRING"], timeout=CLIPBOARD_SECONDS
    )
    return _text(output) if status == 0 else ""


ACTIONS = {
    act.__name__: act for act in (run_command, read_file, write_file, edit_file, open_app, set_clipboard, get_clipboard)
}
"""What this module does, by kind of action; each gives the text of the observation, or None."""


def _begin(command: list[str], stdin: bytes | None, writer: int) -> "subprocess.Popen[bytes]":
    """Start a command that writes to `writer`, which is closed here. Raises ActFailed.

    It reads from a file in memory: whether and when it reads keeps nobody waiting.
    """
    source = os.open(os.devnull, os.O_RDONLY) if stdin is None else os.memfd_create("stdin")
    try:
        if stdin is not None:
            os.pwrite(source, stdin, 0)
        return subprocess.Popen(command, stdin=source, stdout=writer, stderr=writer, cwd=Path.home(), process_group=0)
    except OSError as error:
        raise ActFailed("cannot_run", f"{command[0]}: {error.strerror}") from error
    finally:
        os.close(source)
        os.close(writer)


def _collect(reader: int, process: "subprocess.Popen[bytes]", ends: float) -> bytes:
    """What comes out until the end of the output, of the process or of the time."""
    kept = bytearray()
    ended = os.pidfd_open(process.pid)
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(reader, selectors.EVENT_READ)
            selector.register(ended, selectors.EVENT_READ)
            while (left := ends - time.monotonic()) > 0:
                ready = {key.fd for key, _ in selector.select(left)}
                if reader in ready:
                    chunk = os.read(reader, 65_536)
                    kept += chunk[: MAX_OUTPUT + 1 - len(kept)]
                    if not chunk:
                        process.wait(max(0.0, ends - time.monotonic()))
                        break
                elif ended in ready:
                    process.wait()
                    break
    except subprocess.TimeoutExpired:
        pass
    finally:
        os.close(ended)
    return bytes(kept)


def _path(action: Action) -> Path:
    """Where a path leads, from the home folder. Raises ActFailed."""
    try:
        return Path.home() / Path(action["path"]).expanduser()
    except RuntimeError as error:  # "~name" of nobody
        raise ActFailed("no_such_user", f"{action['path']}: there is no such user") from error


def _read(action: Action, most: int) -> bytes:
    """The first bytes of a file; of a pipe or a device the end might never come. Raises ActFailed."""
    try:
        with open(_path(action), "rb", opener=_regular) as file:
            return file.read(most)
    except OSError as error:
        raise ActFailed("cannot_read", f"{action['path']}: {error.strerror}") from error


def _regular(path: str, flags: int) -> int:
    """Open a file that is one. Raises OSError."""
    descriptor = os.open(path, flags | os.O_NONBLOCK)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "it is not a regular file")


def _text(data: bytes) -> str:
    text = data[:MAX_OUTPUT].decode("utf-8", "replace")
    return f"{text}\n[cut after {MAX_OUTPUT} bytes]" if len(data) > MAX_OUTPUT else text
