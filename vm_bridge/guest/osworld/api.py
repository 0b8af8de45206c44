"""The calls of OSWorld's in-guest server, as its package makes them, over one desktop."""

import json
import os
import shlex
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.parser import BytesParser
from email.policy import HTTP
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qs, urlsplit
from xml.etree.ElementTree import Element, SubElement, tostring

from vm_bridge.guest.osworld.windows import act_on_window, list_windows

EXECUTE_SECONDS = 120.0
"""After so long a command is ended, as theirs does."""
OPEN_SECONDS, OPEN_POLL_SECONDS = 60.0, 0.2
"""How long an opened file's window may take to appear."""
COMPONENT = "{https://accessibility.ubuntu.example.org/ns/component}"
"""The space of OSWorld's names in which a tree says where things are."""
BINARY, PLAIN, JSON = "application/octet-stream", "text/plain; charset=utf-8", "application/json"


class GuestDesktop(Protocol):
    """The desktop that the calls are about."""

    home: Path
    environment: dict[str, str]
    """Of the programs that are run, with their DISPLAY."""
    wallpaper: Path | None

    def screenshot(self) -> bytes:
        """The screen as a PNG file, with the pointer."""
        ...

    def screen_size(self) -> tuple[int, int]:
        """Width and height (pixels)."""
        ...

    def launch(self, argv: str | list[str], *, shell: bool = False) -> None:
        """Start a program that lives on. Raises OSError when it is not there."""
        ...

    def opener(self, path: Path) -> list[str]:
        """The command that shows a file in the program for its kind."""
        ...


@dataclass(frozen=True)
class Call:
    """One request."""

    path: str
    content_type: str
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        """The body as a JSON object. Raises ValueError."""
        arguments = json.loads(self.body or b"{}")
        if not isinstance(arguments, dict):
            raise ValueError("the body is no JSON object")
        return arguments

    def field(self, name: str) -> str:
        """A field of a form. Raises KeyError."""
        return parse_qs(self.body.decode())[name][0]


@dataclass(frozen=True)
class Reply:
    """One answer."""

    body: bytes
    media_type: str = BINARY
    status: int = 200


def text_reply(text: str, status: int = 200) -> Reply:
    """An answer for people."""
    return Reply(text.encode(), PLAIN, status)


def json_reply(value: Mapping[str, Any], status: int = 200) -> Reply:
    """An answer for programs."""
    return Reply(json.dumps(value).encode(), JSON, status)


Handler = Callable[[Call], Reply]


class GuestApi:
    """Answers every call; calls may come from several threads."""

    def __init__(self, desktop: GuestDesktop) -> None:
        self._desktop = desktop
        self._one_picture = threading.Lock()
        self.handlers: dict[tuple[str, str], Handler] = {
            ("GET", "/platform"): lambda call: text_reply("Linux"),
            ("GET", "/terminal"): lambda call: json_reply({"output": None, "status": "success"}),
            ("GET", "/screenshot"): self.screenshot,
            ("GET", "/accessibility"): self.accessibility,
            ("POST", "/screen_size"): self.screen_size,
            ("POST", "/execute"): self.execute,
            ("POST", "/list_directory"): self.list_directory,
            ("POST", "/file"): self.file,
            ("POST", "/run_python"): self.run_python,
            ("POST", "/run_bash_script"): self.run_bash_script,
            ("POST", "/window_size"): self.window_size,
            ("POST", "/desktop_path"): lambda call: json_reply({"desktop_path": str(self._desktop.home / "Desktop")}),
            ("POST", "/wallpaper"): self.wallpaper,
            ("POST", "/setup/execute"): self.execute,
            ("POST", "/setup/execute_with_verification"): self.execute_with_verification,
            ("POST", "/setup/change_wallpaper"): self.change_wallpaper,
            ("POST", "/setup/launch"): self.launch,
            ("POST", "/setup/open_file"): self.open_file,
            ("POST", "/setup/upload"): self.upload,
            ("POST", "/setup/download_file"): self.download_file,
            ("POST", "/setup/activate_window"): self.window,
            ("POST", "/setup/close_window"): self.window,
        }
        """By method and path."""

    def handle(self, method: str, call: Call) -> Reply:
        """The answer; what fails is one too."""
        handler = self.handlers.get((method, call.path))
        if handler is None:
            return json_reply({"status": "error", "message": f"there is no {method} {call.path} here"}, 404)
        try:
            return handler(call)
        except Exception as error:  # noqa: BLE001 - callers are told of every failure, and the server goes on
            return json_reply({"status": "error", "message": f"{type(error).__name__}: {error}"}, 500)

    def screenshot(self, call: Call) -> Reply:
        """The screen with the pointer."""
        with self._one_picture:
            return Reply(self._desktop.screenshot(), "image/png")

    def screen_size(self, call: Call) -> Reply:
        """Width and height."""
        width, height = self._desktop.screen_size()
        return json_reply({"width": width, "height": height})

    def execute(self, call: Call) -> Reply:
        """Run a command to its end."""
        arguments = call.json
        return json_reply(_result(self._run(self._command(arguments), shell=bool(arguments.get("shell")))))

    def execute_with_verification(self, call: Call) -> Reply:
        """Run a command, and wait until what it is to bring about is there: a window, or another command's success."""
        arguments = call.json
        done = self._run(self._command(arguments), shell=bool(arguments.get("shell")))
        wanted = arguments.get("verification") or {}
        ends = time.monotonic() + float(arguments.get("max_wait_time", 10))
        while not self._verified(wanted):
            if time.monotonic() > ends:
                return json_reply({"status": "verification_failed", "error": done.stderr}, 500)
            time.sleep(float(arguments.get("check_interval", 1)))
        return json_reply(_result(done) | {"verification": "passed"})

    def run_python(self, call: Call) -> Reply:
        """Run a Python program."""
        done = self._run(["python", "-c", call.json["code"]])
        return json_reply(_result(done) | {"return_code": done.returncode}, 500 if done.returncode else 200)

    def run_bash_script(self, call: Call) -> Reply:
        """Run a script to its end, or the end of its time."""
        arguments = call.json
        seconds = float(arguments.get("timeout") or EXECUTE_SECONDS)
        try:
            done = self._run(["bash", "-c", arguments["script"]], timeout=seconds, folder=arguments.get("working_dir"))
        except subprocess.TimeoutExpired as error:
            return json_reply({"status": "error", "output": "", "error": str(error), "returncode": -1}, 500)
        return json_reply(_result(done))

    def window_size(self, call: Call) -> Reply:
        """Of the first window of a class."""
        name = call.field("app_class_name")
        for window in list_windows(self._display):
            if name in window.classes:
                return json_reply({"width": window.width, "height": window.height})
        return json_reply({"message": f"there is no window of {name}"}, 404)

    def accessibility(self, call: Call) -> Reply:
        """The windows, each as the frame of an application; what is in them has no part in the tree."""
        tree = Element("desktop-frame", {"name": "main"})
        for window in list_windows(self._display):
            application = SubElement(tree, "application", {"name": window.classes[-1] if window.classes else ""})
            place, size = f"({window.x}, {window.y})", f"({window.width}, {window.height})"
            parts = {"name": window.title, f"{COMPONENT}screencoord": place, f"{COMPONENT}size": size}
            SubElement(application, "frame", parts)
        return json_reply({"AT": tostring(tree, "unicode")})

    def wallpaper(self, call: Call) -> Reply:
        """The file that was chosen last."""
        if self._desktop.wallpaper is None:
            return text_reply("no wallpaper was chosen", 404)
        return Reply(self._desktop.wallpaper.read_bytes())

    def change_wallpaper(self, call: Call) -> Reply:
        """Choose a file."""
        path = self._resolve_path(call.json["path"])
        if not path.is_file():
            return text_reply(f"File not found: {path}", 404)
        self._desktop.wallpaper = path
        return text_reply("Wallpaper changed successfully")

    def launch(self, call: Call) -> Reply:
        """Start a program that lives on."""
        arguments = call.json
        command = self._command(arguments)
        self._desktop.launch(command, shell=bool(arguments.get("shell")))
        return text_reply(f"{command} launched successfully")

    def open_file(self, call: Call) -> Reply:
        """Show a file in the program for its kind, and wait for a window that names it."""
        path = self._resolve_path(call.json["path"])
        if not path.exists():
            return text_reply(f"File not found: {path}", 404)
        self._desktop.launch(self._desktop.opener(path))
        ends = time.monotonic() + OPEN_SECONDS
        while not any(path.stem in window.title for window in list_windows(self._display)):
            if time.monotonic() > ends:
                return text_reply(f"no window named {path.name} within {OPEN_SECONDS:g} s", 500)
            time.sleep(OPEN_POLL_SECONDS)
        return text_reply("File opened successfully")

    def upload(self, call: Call) -> Reply:
        """Store a file."""
        head = b"Content-Type: " + call.content_type.encode() + b"\r\n\r\n"
        message = BytesParser(policy=HTTP).parsebytes(head + call.body)
        form = {str(part.get_param("name", header="content-disposition")): part for part in message.iter_parts()}
        if not {"file_path", "file_data"} <= form.keys():
            return json_reply({"error": "file_path and file_data are required"}, 400)
        data = form["file_data"].get_payload(decode=True)
        assert isinstance(data, bytes)
        path = self._resolve_path(str(form["file_path"].get_payload()).strip())
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return text_reply("File Uploaded")

    def file(self, call: Call) -> Reply:
        """A file's bytes."""
        path = self._resolve_path(call.field("file_path"))
        return Reply(path.read_bytes()) if path.is_file() else json_reply({"error": "File not found"}, 404)

    def list_directory(self, call: Call) -> Reply:
        """A folder with all below it."""
        path = Path(call.json["path"])
        if not path.is_dir():
            return json_reply({"error": "The provided path is not a directory"}, 400)
        return json_reply({"directory_tree": _directory_tree(path)})

    def download_file(self, call: Call) -> Reply:
        """Fetch a file from the web; only HTTP addresses, since `file:` would read local files."""
        arguments = call.json
        path = self._resolve_path(arguments["path"])
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            if urlsplit(arguments["url"]).scheme not in {"http", "https"}:
                raise ValueError("only http and https addresses are fetched")
            with urllib.request.urlopen(arguments["url"], timeout=EXECUTE_SECONDS) as answer:  # noqa: S310 - checked above
                path.write_bytes(answer.read())
        except (OSError, ValueError) as error:
            return text_reply(f"Failed to download {arguments['url']}. No retries left. Error: {error}", 500)
        return text_reply("File downloaded successfully")

    def window(self, call: Call) -> Reply:
        """Bring a window to the front, or close it. Theirs says that it did the first whether there is one or not."""
        arguments, close = call.json, call.path.endswith("close_window")
        strict, by_class = bool(arguments.get("strict")), bool(arguments.get("by_class"))
        found = act_on_window(self._display, arguments["window_name"], strict=strict, by_class=by_class, close=close)
        return text_reply("done") if found or not close else text_reply("Window not found", 404)

    @property
    def _display(self) -> str:
        return self._desktop.environment["DISPLAY"]

    def _verified(self, wanted: dict[str, Any]) -> bool:
        name, command = wanted.get("window_exists"), wanted.get("command_success")
        if name and not any(name.casefold() in window.title.casefold() for window in list_windows(self._display)):
            return False
        return not command or self._run(command, shell=isinstance(command, str)).returncode == 0

    def _run(
        self,
        argv: str | list[str],
        *,
        shell: bool = False,
        timeout: float = EXECUTE_SECONDS,
        folder: str | None = None,
    ) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            argv,
            shell=shell,
            cwd=folder or self._desktop.home,
            env=self._desktop.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
        )

    def _command(self, arguments: dict[str, Any]) -> str | list[str]:
        """A line for the shell, or words; the home folder's sign is put in, also as theirs does it."""
        shell = bool(arguments.get("shell"))
        command: str | list[str] = arguments.get("command", "" if shell else [])
        if isinstance(command, str):
            return command if shell else shlex.split(command)
        words = [str(self._desktop.home) + word[1:] if word.startswith("~/") else word for word in command]
        return words[0] if shell else words

    def _resolve_path(self, path: str) -> Path:
        """Names have their variables put in, as by theirs."""
        path = path.replace("$HOME", str(self._desktop.home))
        return self._desktop.home / (path[2:] if path.startswith("~/") else path)


def _result(done: "subprocess.CompletedProcess[str]") -> dict[str, Any]:
    return {"status": "success", "output": done.stdout, "error": done.stderr, "returncode": done.returncode}


def _directory_tree(path: Path) -> dict[str, Any]:
    """A link to a folder is one without anything in it: it may lead back."""
    entries = [] if path.is_symlink() else [path / name for name in os.listdir(path)]
    children = [_directory_tree(one) if one.is_dir() else {"type": "file", "name": one.name} for one in entries]
    return {"type": "directory", "name": path.name, "children": children}
