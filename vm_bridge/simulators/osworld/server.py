"""The API of OSWorld's in-guest server, as its callers know it, over a simulated desktop.

Of its own it has one call more, `/simulator/revert`: what a provider of virtual machines does from outside.
"""

import os
import shlex
import subprocess
import threading
import time
import urllib.request
from email.parser import BytesParser
from email.policy import HTTP
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qs, urlsplit
from xml.etree.ElementTree import Element, SubElement, tostring

from fastapi import APIRouter, Body, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse

from vm_bridge.simulators.osworld.desktop import Desktop

EXECUTE_SECONDS = 120.0
SIZE = "import pyautogui; print(*pyautogui.size())"
COMPONENT = "{https://accessibility.ubuntu.example.org/ns/component}"
"""The space of OSWorld's names in which a tree says where things are."""
JsonBody = Annotated[dict[str, Any], Body()]


class GuestServer:
    """The server of one desktop."""

    def __init__(self, desktop: Desktop) -> None:
        self._desktop = desktop
        self._picture = desktop.home.parent / "screenshot.png"
        self._changing = threading.Lock()
        self.routes = APIRouter()
        for method, paths, call in (
            ("GET", ("/platform",), lambda: PlainTextResponse("Linux")),
            ("GET", ("/terminal",), lambda: JSONResponse({"output": None, "status": "success"})),
            ("GET", ("/screenshot",), self.screenshot),
            ("POST", ("/screen_size",), self.screen_size),
            ("POST", ("/execute", "/setup/execute"), self.execute),
            ("POST", ("/list_directory",), self.list_directory),
            ("POST", ("/file",), self.file),
            ("POST", ("/run_python",), self.run_python),
            ("POST", ("/run_bash_script",), self.run_bash_script),
            ("POST", ("/window_size",), self.window_size),
            ("POST", ("/desktop_path",), self.desktop_path),
            ("POST", ("/wallpaper",), self.wallpaper),
            ("GET", ("/accessibility",), self.accessibility),
            ("POST", ("/setup/execute_with_verification",), self.execute_with_verification),
            ("POST", ("/setup/change_wallpaper",), self.change_wallpaper),
            ("POST", ("/setup/launch",), self.launch),
            ("POST", ("/setup/open_file",), self.open_file),
            ("POST", ("/setup/upload",), self.upload),
            ("POST", ("/setup/download_file",), self.download_file),
            ("POST", ("/setup/activate_window", "/setup/close_window"), self.window),
            ("POST", ("/simulator/revert",), self.revert),
        ):
            for path in paths:
                self.routes.add_api_route(path, call, methods=[method], response_model=None)

    def revert(self) -> Response:
        """Back to the first state."""
        with self._changing:
            self._desktop.revert()
        return PlainTextResponse("reverted")

    def screenshot(self) -> Response:
        """The screen and the pointer, by way of one file as theirs does it."""
        with self._changing:
            self._desktop.picture().save(self._picture, "PNG", compress_level=1)
            return Response(self._picture.read_bytes(), media_type="image/png")

    def screen_size(self) -> Response:
        """Width and height."""
        width, height = map(int, self._ran(["python", "-c", SIZE]).stdout.split())
        return JSONResponse({"width": width, "height": height})

    def execute(self, given: JsonBody) -> Response:
        """Run a command to its end."""
        try:
            done = self._ran(self._command(given), shell=bool(given.get("shell")))
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            return JSONResponse({"status": "error", "message": str(error)}, 500)
        return JSONResponse(_result_json(done))

    def execute_with_verification(self, given: JsonBody) -> Response:
        """Run a command, and wait until what it is to bring about is there: a window, or another command's success."""
        done = self._ran(self._command(given), shell=bool(given.get("shell")))
        wanted = given.get("verification") or {}
        ends = time.monotonic() + float(given.get("max_wait_time", 10))
        while not self._verified(wanted):
            if time.monotonic() > ends:
                return JSONResponse({"status": "verification_failed", "error": done.stderr}, 500)
            time.sleep(float(given.get("check_interval", 1)))
        return JSONResponse(_result_json(done) | {"verification": "passed"})

    def run_python(self, given: JsonBody) -> Response:
        """Run a Python program."""
        done = self._ran(["python", "-c", given["code"]])
        return JSONResponse(_result_json(done) | {"return_code": done.returncode}, 500 if done.returncode else 200)

    def run_bash_script(self, given: JsonBody) -> Response:
        """Run a script to its end, or the end of its time."""
        try:
            done = self._ran(
                ["bash", "-c", given["script"]],
                timeout=float(given.get("timeout") or EXECUTE_SECONDS),
                folder=given.get("working_dir"),
            )
        except subprocess.TimeoutExpired as error:
            return JSONResponse({"status": "error", "output": "", "error": str(error), "returncode": -1}, 500)
        return JSONResponse(_result_json(done))

    async def window_size(self, request: Request) -> Response:
        """Of the first window of a class."""
        name = parse_qs((await request.body()).decode())["app_class_name"][0]
        for window in self._desktop.windows():
            if name in window.classes:
                return JSONResponse({"width": window.width, "height": window.height})
        return JSONResponse({"message": f"there is no window of {name}"}, 404)

    def accessibility(self) -> Response:
        """The windows, each as the frame of an application; what is in them has no part in a tree here."""
        tree = Element("desktop-frame", {"name": "main"})
        for window in self._desktop.windows():
            application = SubElement(tree, "application", {"name": window.classes[-1] if window.classes else ""})
            place, size = f"({window.x}, {window.y})", f"({window.width}, {window.height})"
            SubElement(
                application,
                "frame",
                {"name": window.title, f"{COMPONENT}screencoord": place, f"{COMPONENT}size": size},
            )
        return JSONResponse({"AT": tostring(tree, "unicode")})

    def desktop_path(self) -> Response:
        """The folder whose files the desktop shows."""
        return JSONResponse({"desktop_path": str(self._desktop.home / "Desktop")})

    def wallpaper(self) -> Response:
        """The file that was chosen last."""
        if self._desktop.wallpaper is None:
            return PlainTextResponse("no wallpaper was chosen", 404)
        return Response(self._desktop.wallpaper.read_bytes(), media_type="application/octet-stream")

    def change_wallpaper(self, given: JsonBody) -> Response:
        """Choose a file."""
        path = self._inside(given["path"])
        if not path.is_file():
            return PlainTextResponse(f"File not found: {path}", 404)
        self._desktop.wallpaper = path
        return PlainTextResponse("Wallpaper changed successfully")

    def launch(self, given: JsonBody) -> Response:
        """Start a program that lives on."""
        command = self._command(given)
        try:
            self._desktop.launch(command, shell=bool(given.get("shell")))
        except OSError as error:
            return JSONResponse({"status": "error", "message": str(error)}, 500)
        return PlainTextResponse(f"{command} launched successfully")

    def open_file(self, given: JsonBody) -> Response:
        """Show a file in the program for its kind; here that is a pager, whatever the kind."""
        path = self._inside(given["path"])
        if not path.exists():
            return PlainTextResponse(f"File not found: {path}", 404)
        self._desktop.launch(["xterm", "-T", path.name, "-e", "less", str(path)])
        return PlainTextResponse("File opened successfully")

    async def upload(self, request: Request) -> Response:
        """Store a file."""
        head = b"Content-Type: " + request.headers["content-type"].encode() + b"\r\n\r\n"
        message = BytesParser(policy=HTTP).parsebytes(head + await request.body())
        form = {str(part.get_param("name", header="content-disposition")): part for part in message.iter_parts()}
        if not {"file_path", "file_data"} <= form.keys():
            return JSONResponse({"error": "file_path and file_data are required"}, 400)
        data = form["file_data"].get_payload(decode=True)
        assert isinstance(data, bytes)
        self._inside(str(form["file_path"].get_payload()).strip()).write_bytes(data)
        return PlainTextResponse("File Uploaded")

    async def file(self, request: Request) -> Response:
        """A file's bytes."""
        path = self._inside(parse_qs((await request.body()).decode())["file_path"][0])
        if not path.is_file():
            return JSONResponse({"error": "File not found"}, 404)
        return Response(path.read_bytes(), media_type="application/octet-stream")

    def list_directory(self, given: JsonBody) -> Response:
        """A folder with all below it."""
        path = Path(given["path"])
        if not path.is_dir():
            return JSONResponse({"error": "The provided path is not a directory"}, 400)
        return JSONResponse({"directory_tree": _directory_tree(path)})

    def download_file(self, given: JsonBody) -> Response:
        """Fetch a file from the web; only HTTP addresses, since `file:` would read the host's files."""
        path = self._inside(given["path"])
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            if urlsplit(given["url"]).scheme not in {"http", "https"}:
                raise ValueError("only http and https addresses are fetched")
            with urllib.request.urlopen(given["url"], timeout=EXECUTE_SECONDS) as answer:  # noqa: S310 - checked above
                path.write_bytes(answer.read())
        except (OSError, ValueError) as error:
            return PlainTextResponse(f"Failed to download {given['url']}. No retries left. Error: {error}", 500)
        return PlainTextResponse("File downloaded successfully")

    def window(self, given: JsonBody, request: Request) -> Response:
        """Bring a window to the front, or close it. Theirs says that it did the first whether there is one or not."""
        close = request.url.path.endswith("close_window")
        strict, by_class = bool(given.get("strict")), bool(given.get("by_class"))
        found = self._desktop.window_do(given["window_name"], strict=strict, by_class=by_class, close=close)
        return PlainTextResponse("done") if found or not close else PlainTextResponse("Window not found", 404)

    def _verified(self, wanted: dict[str, Any]) -> bool:
        name, command = wanted.get("window_exists"), wanted.get("command_success")
        if name and not any(name.casefold() in window.title.casefold() for window in self._desktop.windows()):
            return False
        return not command or self._ran(command, shell=isinstance(command, str)).returncode == 0

    def _ran(
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
            capture_output=True,
            text=True,
            timeout=timeout,
        )

    def _command(self, given: dict[str, Any]) -> str | list[str]:
        """A line for the shell, or words; the home folder's sign is put in, also as theirs does it."""
        shell = bool(given.get("shell"))
        command: str | list[str] = given.get("command", "" if shell else [])
        if isinstance(command, str):
            return command if shell else shlex.split(command)
        words = [str(self._desktop.home) + word[1:] if word.startswith("~/") else word for word in command]
        return words[0] if shell else words

    def _inside(self, path: str) -> Path:
        """Names have their variables put in, as by theirs."""
        path = path.replace("$HOME", str(self._desktop.home))
        return self._desktop.home / (path[2:] if path.startswith("~/") else path)


def _result_json(done: "subprocess.CompletedProcess[str]") -> dict[str, Any]:
    return {"status": "success", "output": done.stdout, "error": done.stderr, "returncode": done.returncode}


def _directory_tree(path: Path) -> dict[str, Any]:
    """A link to a folder is one without anything in it: it may lead back."""
    entries = [] if path.is_symlink() else [path / name for name in os.listdir(path)]
    children = [_directory_tree(one) if one.is_dir() else {"type": "file", "name": one.name} for one in entries]
    return {"type": "directory", "name": path.name, "children": children}
