"""Runs inside a Linux or Windows OSWorld guest: the text of this file is sent to the server's /execute.

It needs only the standard library and PyAutoGUI (with Pyperclip, its dependency), and Python 3.9 or later. Its argument
is a JSON object, its last line of output another: `text` or `bytes`, or `failed` and `why`.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

MAX_TEXT = 64 * 1024
WINDOWS = sys.platform == "win32"
WHEEL_NOTCH, MOUSEEVENTF_HWHEEL = 120, 0x1000
"""Windows' units per wheel notch, and its flag for the horizontal wheel."""
WINDOWS_MODIFIERS = {
    **{"shiftleft": 0xA0, "shiftright": 0xA1, "ctrlleft": 0xA2, "ctrlright": 0xA3},
    **{"altleft": 0xA4, "altright": 0xA5, "winleft": 0x5B, "winright": 0x5C},
}
"""PyAutoGUI's names of the modifiers, with Windows' virtual keys."""
VK_CAPITAL, KEY_IS_DOWN, KEY_IS_ON = 0x14, 0x8000, 1
SCRIPT = """[Console]::OutputEncoding = [Text.UTF8Encoding]::new($false); $ProgressPreference = 'SilentlyContinue'
{command}
$ok = $?; if ($LASTEXITCODE) {{ exit $LASTEXITCODE }}; if (-not $ok) {{ exit 1 }}
"""
"""Runs a command line in PowerShell, whose exit status would otherwise be zero after any failure."""


class OperationFailed(Exception):
    """An operation failed: a stable code, and a message for people."""


def load_pyautogui() -> Any:
    """PyAutoGUI, which needs the display, without its pauses and its fail-safe corner."""
    import pyautogui

    pyautogui.PAUSE = 0
    pyautogui.FAILSAFE = False
    return pyautogui


def resolve_path(given: str) -> str:
    """A path below the home folder."""
    return os.path.join(os.path.expanduser("~"), given)


def perform_inputs(inputs: list[tuple[str, Any, float]]) -> None:
    """Primitive inputs in order: the name of one, its arguments, and when it is due (seconds after the first)."""
    gui = load_pyautogui()
    held: list[str] = []
    try:
        play_inputs(gui, inputs, held)
    except BaseException:
        for name in reversed(held):  # a failure leaves no key pressed
            press_key(gui, gui.keyUp, name)
        raise


def play_inputs(gui: Any, inputs: list[tuple[str, Any, float]], held: list[str]) -> None:
    """Play the inputs, and track the pressed keys in `held`."""
    began = time.monotonic()
    for name, arguments, due in inputs:
        time.sleep(max(0.0, began + due - time.monotonic()))
        if name == "scroll":
            scroll_notches(gui, *arguments)
        elif name == "drag":
            drag(gui, *arguments)
        elif name == "drag_along":
            drag_along(gui, *arguments)
        elif name == "key_down":
            press_key(gui, gui.keyDown, arguments[0])
            held.append(arguments[0])
        elif name == "key_up":
            press_key(gui, gui.keyUp, arguments[0])
            held[:] = [one for one in held if one != arguments[0]]
        elif name == "type_text":
            type_text(*arguments)
        else:
            getattr(gui, name)(**arguments)


def press_key(gui: Any, do: Callable[[str], Any], name: str) -> None:
    """Works around PyAutoGUI, which types ">" for "<" under X, where "<" shares its key with the comma."""
    if name == "<" and not WINDOWS:
        name = ","
    if not gui.isValidKey(name):
        raise OperationFailed("no_such_key", f"the keyboard has no key {name}")
    do(name)


def scroll_notches(gui: Any, direction: str, amount: int) -> None:
    """Works around PyAutoGUI on Windows, which counts in Windows' units and always turns the vertical wheel."""
    signed = amount if direction in ("up", "right") else -amount
    if direction in ("up", "down"):
        gui.scroll(signed * WHEEL_NOTCH if WINDOWS else signed)
    elif WINDOWS:
        import ctypes

        ctypes.windll.user32.mouse_event(MOUSEEVENTF_HWHEEL, 0, 0, signed * WHEEL_NOTCH, 0)  # type: ignore[attr-defined]
    else:
        gui.hscroll(signed)


def drag(gui: Any, start: list[int], end: list[int], button: str) -> None:
    gui.moveTo(*start)
    drag_along(gui, [end], button)


def drag_along(gui: Any, points: list[list[int]], button: str) -> None:
    """Drag from the pointer's position along the points."""
    gui.mouseDown(button=button)
    try:
        for x, y in points:
            gui.moveTo(x, y, duration=0.5)
    finally:
        gui.mouseUp(button=button)


def type_text(text: str) -> None:
    """Type key by key. A text with a character that has no key goes through the clipboard, which is restored. Held
    modifiers and Caps Lock are off meanwhile, and restored afterwards."""
    gui = load_pyautogui()
    with windows_modifiers_up(gui) if WINDOWS else x11_modifiers_up(gui):
        write_text(gui, text)


@contextlib.contextmanager
def x11_modifiers_up(gui: Any) -> Iterator[None]:
    """Queries the X server, since any program may have pressed them, also an earlier run of this one."""
    from Xlib import XK, X  # a dependency of PyAutoGUI
    from Xlib.ext.xtest import fake_input

    server = gui.platformModule._display
    down, mapping = server.query_keymap(), server.get_modifier_mapping()
    codes = {code for index, row in enumerate(mapping) if index != X.LockMapIndex for code in row if code}
    held = sorted(code for code in codes if down[code // 8] >> code % 8 & 1)
    locked = server.screen().root.query_pointer().mask & X.LockMask
    caps_lock = [server.keysym_to_keycode(XK.XK_Caps_Lock)] if locked else []

    def send(*events: tuple[int, list[int]]) -> None:
        for event, keys in events:
            for code in keys:
                fake_input(server, event, code)
        server.sync()

    send((X.KeyRelease, held), (X.KeyPress, caps_lock), (X.KeyRelease, caps_lock))
    try:
        yield
    finally:
        send((X.KeyPress, caps_lock), (X.KeyRelease, caps_lock), (X.KeyPress, held))


@contextlib.contextmanager
def windows_modifiers_up(gui: Any) -> Iterator[None]:
    import ctypes

    user32 = ctypes.windll.user32  # type: ignore[attr-defined]
    held = [name for name, code in WINDOWS_MODIFIERS.items() if user32.GetAsyncKeyState(code) & KEY_IS_DOWN]
    locked = user32.GetKeyState(VK_CAPITAL) & KEY_IS_ON
    for name in held:
        gui.keyUp(name)
    if locked:
        gui.press("capslock")
    try:
        yield
    finally:
        if locked:
            gui.press("capslock")
        for name in held:
            gui.keyDown(name)


def write_text(gui: Any, text: str) -> None:
    if all(gui.isValidKey(character) or character == "\r" for character in text):
        for character in text:
            if character == "<" and not WINDOWS:
                gui.hotkey("shift", ",")
            elif character != "\r":
                gui.write(character)
        return
    before = read_clipboard()
    set_clipboard(text)
    gui.hotkey("ctrl", "v")
    time.sleep(0.3)  # the program requests the text after the keys, without a signal when it is done
    set_clipboard(before)


def xclip(*words: str, text: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ("xclip", "-selection", "clipboard", *words),  # noqa: S607 - the guest's own program
            input=text,
            stdout=subprocess.DEVNULL if text is not None else subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=10,
        )
    except FileNotFoundError:
        raise OperationFailed(
            "cannot_type", "text beyond the keyboard and the clipboard need xclip in the guest"
        ) from None


def read_clipboard() -> str:
    if WINDOWS:
        import pyperclip  # type: ignore[import-untyped]

        return str(pyperclip.paste()).replace("\r\n", "\n")
    ran = xclip("-o")
    return ran.stdout.decode("utf-8", "replace") if ran.returncode == 0 else ""


def set_clipboard(text: str) -> None:
    if WINDOWS:
        import pyperclip

        pyperclip.copy(text.replace("\r\n", "\n").replace("\n", "\r\n"))
    else:
        xclip("-i", text=text.encode("utf-8"))


def run(command: str, timeout: float) -> dict[str, str]:
    """Run a shell command line. On timeout, end it with all its children."""
    script = write_script(command) if WINDOWS else ""
    shell = ["powershell", "-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-File", script]
    try:
        process = subprocess.Popen(
            shell if WINDOWS else ["bash", "-c", command],
            cwd=os.path.expanduser("~"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=not WINDOWS,
        )
        failed = {}
        try:
            output = process.communicate(timeout=timeout)[0]
        except subprocess.TimeoutExpired:
            kill_process_tree(process)
            output = process.communicate()[0]
            failed = {"failed": "timed_out", "why": f"the command did not end within {timeout:g} s"}
    finally:
        if WINDOWS:
            os.unlink(script)
    text = output.decode("utf-8", "replace")[:MAX_TEXT]
    if process.returncode and not failed:
        text = f"{text}\n[exit status {process.returncode}]".lstrip("\n")
    return {"text": text, **failed}


def write_script(command: str) -> str:
    """A script file for PowerShell, with a BOM so that it is read as UTF-8."""
    handle, path = tempfile.mkstemp(".ps1", "pilothouse-")
    with open(handle, "w", encoding="utf-8-sig") as file:
        file.write(SCRIPT.format(command=command))
    return path


def kill_process_tree(process: subprocess.Popen[bytes]) -> None:
    """Kill a process with all its children."""
    if WINDOWS:
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True, timeout=30)  # noqa: S607 - the guest's own program
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGKILL)


def list_directory(path: str) -> str:
    """Kind, size, time and name of each entry."""
    lines = []
    try:
        for entry in sorted(os.scandir(resolve_path(path)), key=lambda entry: entry.name):
            about = entry.stat(follow_symlinks=False)
            kind = "folder" if entry.is_dir(follow_symlinks=False) else "link" if entry.is_symlink() else "file"
            moment = time.strftime("%Y-%m-%d %H:%M", time.localtime(about.st_mtime))
            lines.append(f"{kind:6} {about.st_size:12} {moment} {entry.name}")
    except OSError as error:
        raise OperationFailed("no_such_file", f"{path}: {error.strerror}") from None
    return "\n".join(lines)


def read_file(path: str, most: int) -> bytes:
    try:
        with open(resolve_path(path), "rb") as file:
            content = file.read(most + 1)
    except OSError as error:
        raise OperationFailed("no_such_file", f"{path}: {error.strerror}") from None
    if len(content) > most:
        raise OperationFailed("too_long", f"{path} has more than {most} bytes")
    return content


def move_file(source: str, path: str) -> None:
    """Move an uploaded file into place atomically."""
    source, target = os.path.expanduser(source), resolve_path(path)
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        beside = f"{target}.{os.getpid()}.writing"
        with open(source, "rb") as given, open(beside, "wb") as file:
            file.write(given.read())
        os.replace(beside, target)
    except OSError as error:
        raise OperationFailed("cannot_write", f"{path}: {error.strerror}") from None
    finally:
        os.unlink(source)


def remove_path(path: str) -> None:
    os.unlink(resolve_path(path))


def handle_request(given: dict[str, Any]) -> dict[str, str]:
    kind = given.pop("do")
    if kind == "run":
        return run(**given)
    if kind == "read":
        return {"bytes": base64.b64encode(read_file(**given)).decode("ascii")}
    if kind == "list":
        return {"text": list_directory(**given)}
    if kind == "get_clipboard":
        return {"text": read_clipboard()}
    deeds: dict[str, Callable[..., None]] = {"act": perform_inputs, "type": type_text, "set_clipboard": set_clipboard}
    deeds.update(move=move_file, remove=remove_path)
    deeds[kind](**given)
    return {}


def main() -> None:
    try:
        answer = handle_request(json.loads(sys.argv[1]))
    except OperationFailed as failed:
        answer = {"failed": failed.args[0], "why": failed.args[1]}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
