"""The guest's side of the peer: runs commands and takes screenshots as OSWorld's server does; prints its port."""

import io
import json
import os
import subprocess
import tempfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

# Pillow takes its own fast way only where gnome-screenshot seems to be there; without it PyAutoGUI needs scrot,
# which is slower. The peer gets the faster one.
_tools = tempfile.mkdtemp()
Path(_tools, "gnome-screenshot").write_text("#!/bin/sh\nexit 1\n")
Path(_tools, "gnome-screenshot").chmod(0o755)
os.environ["PATH"] += f":{_tools}"
if not Path("~/.Xauthority").expanduser().exists():
    os.environ["XAUTHORITY"] = str(Path(_tools, "Xauthority"))
    Path(_tools, "Xauthority").touch()

import pyautogui  # noqa: E402 (it looks for the tools when it is imported)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        picture = io.BytesIO()
        pyautogui.screenshot().save(picture, "PNG")
        self._answer("image/png", picture.getvalue())

    def do_POST(self) -> None:
        command = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["command"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        self._answer("application/json", json.dumps({"returncode": done.returncode, "error": done.stderr}).encode())

    def log_message(self, format: str, *arguments: object) -> None:
        pass

    def _answer(self, media_type: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


server = HTTPServer(("127.0.0.1", 0), Handler)
print("port", server.server_port, flush=True)
server.serve_forever()
