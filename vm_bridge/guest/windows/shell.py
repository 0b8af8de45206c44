"""Commands, programs and the clipboard of Windows."""

import os
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pyperclip  # type: ignore[import-untyped]

from vm_bridge.guest.common.actions import MAX_OUTPUT, Action, ActionFailed, ActionOutput, bounded_text
from vm_bridge.guest.windows.programs import APPS, SHELL_LANGUAGES
from vm_bridge.guest.windows.win32 import JobObject

TRAILING_OUTPUT_SECONDS = 1.0
"""How long the rest of the output is read where something that a command left behind holds it (seconds)."""
PIECE = 65_536
NEW_WINDOW = 0x00000010


class Shell:
    """Runs one command at a time; `cut` may come from any thread."""

    def __init__(self, language: str) -> None:
        self._language = SHELL_LANGUAGES[language]
        self._finished = threading.Event()
        """The command ended, or was cut short."""
        self._interrupted = False

    def clear(self) -> None:
        """Before something new runs."""
        self._interrupted = False
        self._finished.clear()

    def interrupt(self) -> None:
        """End the command that runs now."""
        self._interrupted = True
        self._finished.set()

    def run_command(self, action: Action) -> ActionOutput:
        """The combined output of one command line. Raises ActionFailed when its time runs out or it is cut short."""
        script = self._language.script_of(action["command"])
        try:
            return self._run([*self._language.run, str(script)], action["timeout"])
        finally:
            with suppress(OSError):  # something that was left behind still reads it
                script.unlink()

    def _run(self, command: list[str], seconds: float) -> ActionOutput:
        try:
            job = JobObject(command)
        except OSError as error:
            raise ActionFailed("cannot_run", f"{command[0]}: {error.strerror}") from error
        output = bytearray()
        reading = _start_thread(lambda: _read(job.process, output))
        waiting = _start_thread(lambda: self._await(job.process))
        try:
            ends = time.monotonic() + seconds
            self._finished.wait(seconds)
            status = job.process.poll()
            if status is None:
                job.end()
            waiting.join()  # it must not end the next command
            reading.join(TRAILING_OUTPUT_SECONDS)
        finally:
            job.close()
        text = bounded_text(bytes(output)).replace("\r\n", "\n")
        if status is None and self._interrupted and time.monotonic() < ends:
            raise ActionFailed("cut_short", "the command was cut short", text)
        if status is None:
            raise ActionFailed("timed_out", f"the command did not end within {seconds:g} s", text)
        return ActionOutput(text if status == 0 else f"{text}\n[exit status {status}]".lstrip("\n"))

    def _await(self, process: "subprocess.Popen[bytes]") -> None:
        process.wait()
        self._finished.set()


def open_app(action: Action) -> ActionOutput:
    """Start a program by the name people use. Raises ActionFailed when there is none of that name."""
    command = APPS.get(action["name"].strip().lower())
    if command is None:
        raise ActionFailed("no_such_app", f"there is no {action['name']!r}; there are {', '.join(sorted(APPS))}")
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
        raise ActionFailed("not_installed", f"{command[0]}: {error.strerror}") from error
    return ActionOutput()


def set_clipboard(action: Action) -> ActionOutput:
    """Put text on the clipboard. Raises ActionFailed."""
    try:
        pyperclip.copy(action["text"].replace("\r\n", "\n").replace("\n", "\r\n"))
    except pyperclip.PyperclipException as error:
        raise ActionFailed("cannot_copy", f"nothing was copied: {error}") from error
    return ActionOutput()


def get_clipboard(_action: Action) -> ActionOutput:
    """The clipboard's text; empty when nothing is on it."""
    try:
        text = pyperclip.paste()
    except pyperclip.PyperclipException:
        return ActionOutput("")
    return ActionOutput(bounded_text(str(text).replace("\r\n", "\n").encode("utf-8", "replace")))


def _start_thread(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def _read(process: "subprocess.Popen[bytes]", output: bytearray) -> None:
    """All that comes, so that nothing waits for room, and keep what fits."""
    assert process.stdout is not None
    with process.stdout as stream:
        while chunk := os.read(stream.fileno(), PIECE):
            output += chunk[: MAX_OUTPUT + 1 - len(output)]
