"""What is run inside an OSWorld guest: this file's text is sent to its /execute, and the standard library and PyAutoGUI
are all it needs. Python 3.9 and later.

Its argument is a JSON object, its last line of output another: `text` or `bytes`, or `failed` and `why`.
"""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

MAX_TEXT = 64 * 1024


class Failed(Exception):
    """It could not be done: a stable code, and words for people."""


def hands() -> Any:
    """PyAutoGUI, which needs the display, without its pauses and its corner that stops everything."""
    import pyautogui

    pyautogui.PAUSE = 0
    pyautogui.FAILSAFE = False
    return pyautogui


def place(given: str) -> str:
    """A path below the home folder."""
    return os.path.join(os.path.expanduser("~"), given)


def act(inputs: list[tuple[str, Any, float]]) -> None:
    """Primitive inputs in order: the name of one, its arguments, and when it is due (seconds after the first)."""
    gui = hands()
    began = time.monotonic()
    for name, arguments, due in inputs:
        time.sleep(max(0.0, began + due - time.monotonic()))
        if name == "scroll":
            notches(gui, *arguments)
        elif name == "drag":
            drag(gui, *arguments)
        elif name == "key_down":
            key(gui, gui.keyDown, arguments[0])
        elif name == "key_up":
            key(gui, gui.keyUp, arguments[0])
        else:
            getattr(gui, name)(**arguments)


def key(gui: Any, do: Callable[[str], Any], name: str) -> None:
    """PyAutoGUI gives ">" for "<", which shares its key with the comma."""
    if name == "<":
        name = ","
    if not gui.isValidKey(name):
        raise Failed("no_such_key", f"the keyboard has no key {name}")
    do(name)


def notches(gui: Any, direction: str, amount: int) -> None:
    if direction in ("up", "down"):
        gui.scroll(amount if direction == "up" else -amount)
    else:
        gui.hscroll(amount if direction == "right" else -amount)


def drag(gui: Any, start: list[int], end: list[int], button: str) -> None:
    gui.moveTo(*start)
    gui.mouseDown(button=button)
    try:
        gui.moveTo(end[0], end[1], duration=0.5)
    finally:
        gui.mouseUp(button=button)


def type_text(text: str) -> None:
    """Key by key; what no key gives goes over the clipboard, which is put back."""
    gui = hands()
    if all(gui.isValidKey(character) or character == "\r" for character in text):
        for character in text:
            if character == "<":
                gui.hotkey("shift", ",")
            elif character != "\r":
                gui.write(character)
        return
    before = clipboard()
    set_clipboard(text)
    gui.hotkey("ctrl", "v")
    time.sleep(0.3)  # the program asks for the text after the keys; nothing tells when it has
    set_clipboard(before)


def xclip(*words: str, text: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ("xclip", "-selection", "clipboard", *words),
            input=text,
            stdout=subprocess.DEVNULL if text is not None else subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=10,
        )
    except FileNotFoundError:
        raise Failed("cannot_type", "text beyond the keyboard and the clipboard need xclip in the guest") from None


def clipboard() -> str:
    ran = xclip("-o")
    return ran.stdout.decode("utf-8", "replace") if ran.returncode == 0 else ""


def set_clipboard(text: str) -> None:
    xclip("-i", text=text.encode("utf-8"))


def run(command: str, timeout: float) -> dict[str, str]:
    """A command line of the shell, ended with all it started when its time is up."""
    process = subprocess.Popen(
        ["bash", "-c", command],
        cwd=os.path.expanduser("~"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        output = process.communicate(timeout=timeout)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output = process.communicate()[0]
        return {
            "text": output.decode("utf-8", "replace")[:MAX_TEXT],
            "failed": "timed_out",
            "why": f"the command did not end within {timeout:g} s",
        }
    text = output.decode("utf-8", "replace")[:MAX_TEXT]
    if process.returncode:
        text = f"{text}\n[exit status {process.returncode}]".lstrip("\n")
    return {"text": text}


def listed(path: str) -> str:
    """Kind, size, time and name of each entry."""
    lines = []
    try:
        for entry in sorted(os.scandir(place(path)), key=lambda entry: entry.name):
            about = entry.stat(follow_symlinks=False)
            kind = "folder" if entry.is_dir(follow_symlinks=False) else "link" if entry.is_symlink() else "file"
            moment = time.strftime("%Y-%m-%d %H:%M", time.localtime(about.st_mtime))
            lines.append(f"{kind:6} {about.st_size:12} {moment} {entry.name}")
    except OSError as error:
        raise Failed("no_such_file", f"{path}: {error.strerror}") from None
    return "\n".join(lines)


def read(path: str, most: int) -> bytes:
    try:
        with open(place(path), "rb") as file:
            content = file.read(most + 1)
    except OSError as error:
        raise Failed("no_such_file", f"{path}: {error.strerror}") from None
    if len(content) > most:
        raise Failed("too_long", f"{path} has more than {most} bytes")
    return content


def move(source: str, path: str) -> None:
    """What was uploaded takes its place in one move."""
    target = place(path)
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        beside = f"{target}.{os.getpid()}.writing"
        with open(source, "rb") as given, open(beside, "wb") as file:
            file.write(given.read())
        os.replace(beside, target)
    except OSError as error:
        raise Failed("cannot_write", f"{path}: {error.strerror}") from None
    finally:
        os.unlink(source)


def remove(path: str) -> None:
    os.unlink(place(path))


def done(given: dict[str, Any]) -> dict[str, str]:
    kind = given.pop("do")
    if kind == "run":
        return run(**given)
    if kind == "read":
        return {"bytes": base64.b64encode(read(**given)).decode("ascii")}
    if kind == "list":
        return {"text": listed(**given)}
    if kind == "get_clipboard":
        return {"text": clipboard()}
    deeds: dict[str, Callable[..., None]] = {"act": act, "type": type_text, "set_clipboard": set_clipboard}
    deeds.update(move=move, remove=remove)
    deeds[kind](**given)
    return {}


def main() -> None:
    try:
        answer = done(json.loads(sys.argv[1]))
    except Failed as failed:
        answer = {"failed": failed.args[0], "why": failed.args[1]}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
