"""Commands, programs and the clipboard of Windows."""

import os
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pyperclip  # type: ignore[import-untyped]

from vm_bridge.guest.act import MAX_OUTPUT, ActFailed, Action, Given, bounded_text
from vm_bridge.guest.win32.apps import APPS
from vm_bridge.guest.win32.job import Job
from vm_bridge.guest.win32.language import LANGUAGES

LEFT_BEHIND = 1.0
"""How long the rest of the output is read where something that a command left behind holds it (seconds)."""
PIECE = 65_536
NEW_WINDOW = 0x00000010


class Shell:
    """Runs one command at a time; `cut` may come from any thread."""

    def __init__(self, language: str) -> None:
        self._language = LANGUAGES[language]
        self._happened = threading.Event()
        """The command ended, or was cut short."""
        self._cut = False

    def clear(self) -> None:
        """Before something new runs."""
        self._cut = False
        self._happened.clear()

    def cut(self) -> None:
        """End the command that runs now."""
        self._cut = True
        self._happened.set()

    def run_command(self, action: Action) -> Given:
        """The combined output of one command line. Raises ActFailed when its time runs out or it is cut short."""
        script = self._language.script_of(action["command"])
        try:
            return self._run([*self._language.run, str(script)], action["timeout"])
        finally:
            with suppress(OSError):  # something that was left behind still reads it
                script.unlink()

    def _run(self, command: list[str], seconds: float) -> Given:
        try:
            job = Job(command)
        except OSError as error:
            raise ActFailed("cannot_run", f"{command[0]}: {error.strerror}") from error
        output = bytearray()
        reading = _beside(lambda: _read(job.process, output))
        waiting = _beside(lambda: self._await(job.process))
        try:
            ends = time.monotonic() + seconds
            self._happened.wait(seconds)
            status = job.process.poll()
            if status is None:
                job.end()
            waiting.join()  # it must not end the next command
            reading.join(LEFT_BEHIND)
        finally:
            job.close()
        text = bounded_text(bytes(output)).replace("\r\n", "\n")
        if status is None and self._cut and time.monotonic() < ends:
            raise ActFailed("cut_short", "the command was cut short", text)
        if status is None:
            raise ActFailed("timed_out", f"the command did not end within {seconds:g} s", text)
        return Given(text if status == 0 else f"{text}\n[exit status {status}]".lstrip("\n"))

    def _await(self, process: "subprocess.Popen[bytes]") -> None:
        process.wait()
        self._happened.set()


def open_app(action: Action) -> Given:
    """Start a program by the name people use. Raises ActFailed when there is none of that name."""
    command = APPS.get(action["name"].strip().lower())
    if command is None:
        raise ActFailed("no_such_app", f"there is no {action['name']!r}; there are {', '.join(sorted(APPS))}")
    try:
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=Path.home(),
            creationflags=NEW_WINDOW,
        )
    except OSError as error:
        raise ActFailed("not_installed", f"{command[0]}: {error.strerror}") from error
    return Given()


def set_clipboard(action: Action) -> Given:
    """Put text on the clipboard. Raises ActFailed."""
    try:
        pyperclip.copy(action["text"].replace("\r\n", "\n").replace("\n", "\r\n"))
    except pyperclip.PyperclipException as error:
        raise ActFailed("cannot_copy", f"nothing was copied: {error}") from error
    return Given()


def get_clipboard(_action: Action) -> Given:
    """The clipboard's text; empty when nothing is on it."""
    try:
        text = pyperclip.paste()
    except pyperclip.PyperclipException:
        return Given("")
    return Given(bounded_text(str(text).replace("\r\n", "\n").encode("utf-8", "replace")))


def _beside(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def _read(process: "subprocess.Popen[bytes]", output: bytearray) -> None:
    """All that comes, so that nothing waits for room, and keep what fits."""
    assert process.stdout is not None
    with process.stdout as stream:
        while chunk := os.read(stream.fileno(), PIECE):
            output += chunk[: MAX_OUTPUT + 1 - len(output)]
