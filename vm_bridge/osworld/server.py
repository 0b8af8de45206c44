"""The API of OSWorld's in-guest server, as its callers know it, over a simulated desktop.

Of its own it has one call more, `/simulator/revert`: what a provider of virtual machines does from outside.
"""

import os
import shlex
import subprocess
import threading
import urllib.request
from email.parser import BytesParser
from email.policy import HTTP
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Body, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse

from vm_bridge.osworld.desktop import Desktop

EXECUTE_SECONDS = 120.0
SIZE = "import pyautogui; print(*pyautogui.size())"
Given = Annotated[dict[str, Any], Body()]


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

    def execute(self, given: Given) -> Response:
        """Run a command to its end."""
        try:
            done = self._ran(self._command(given), shell=bool(given.get("shell")))
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            return JSONResponse({"status": "error", "message": str(error)}, 500)
        answer = {"status": "success", "output": done.stdout, "error": done.stderr, "returncode": done.returncode}
        return JSONResponse(answer)

    def launch(self, given: Given) -> Response:
        """Start a program that lives on."""
        command = self._command(given)
        try:
            self._desktop.launch(command, shell=bool(given.get("shell")))
        except OSError as error:
            return JSONResponse({"status": "error", "message": str(error)}, 500)
        return PlainTextResponse(f"{command} launched successfully")

    def open_file(self, given: Given) -> Response:
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

    def list_directory(self, given: Given) -> Response:
        """A folder with all below it."""
        path = Path(given["path"])
        if not path.is_dir():
            return JSONResponse({"error": "The provided path is not a directory"}, 400)
        return JSONResponse({"directory_tree": _tree(path)})

    def download_file(self, given: Given) -> Response:
        """Fetch a file from the web."""
        path = self._inside(given["path"])
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with urllib.request.urlopen(given["url"], timeout=EXECUTE_SECONDS) as answer:
                path.write_bytes(answer.read())
        except (OSError, ValueError) as error:
            return PlainTextResponse(f"Failed to download {given['url']}. No retries left. Error: {error}", 500)
        return PlainTextResponse("File downloaded successfully")

    def window(self, given: Given, request: Request) -> Response:
        """Bring a window to the front, or close it. Theirs says that it did the first whether there is one or not."""
        close = request.url.path.endswith("close_window")
        strict, by_class = bool(given.get("strict")), bool(given.get("by_class"))
        found = self._desktop.window_do(given["window_name"], strict=strict, by_class=by_class, close=close)
        return PlainTextResponse("done") if found or not close else PlainTextResponse("Window not found", 404)

    def _ran(self, argv: str | list[str], *, shell: bool = False) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            argv,
            shell=shell,
            cwd=self._desktop.home,
            env=self._desktop.environment,
            capture_output=True,
            text=True,
            timeout=EXECUTE_SECONDS,
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


def _tree(path: Path) -> dict[str, Any]:
    entries = [path / name for name in os.listdir(path)]
    children = [_tree(one) if one.is_dir() else {"type": "file", "name": one.name} for one in entries]
    return {"type": "directory", "name": path.name, "children": children}
