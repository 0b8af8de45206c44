"""Serves the phone's apps and keeps their state: `server.py --state FILE`. Standard library only, on the loopback only.

The state is one JSON file with a key for each app. `FILE` is what it is now, `FILE.start` what it was loaded as.
"""

import argparse
import json
import os
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

HERE = Path(__file__).resolve().parent
MANIFEST = json.loads((HERE / "manifest.json").read_text(encoding="utf-8"))
NAMES = frozenset(app["path"].strip("/") for app in MANIFEST["apps"])
"""The apps' short names: their folders here and their keys in the state."""
PAGES = frozenset({*NAMES, MANIFEST["launcher"]["path"].strip("/")})
MAX_BYTES = 256 * 1024
IDLE_SECONDS = 30.0
"""How long a connection may say nothing; also how often one that waits for news is tested."""
CHANGES = "/api/changes/"
TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".json": "application/json",
}


class Refused(Exception):
    """A request that changes nothing; `status` and the text go to whoever asked."""

    def __init__(self, status: HTTPStatus, text: str) -> None:
        super().__init__(text)
        self.status = status


class State:
    """What the phone holds; every change is on the disk when it is answered."""

    def __init__(self, path: Path) -> None:
        self._path, self._start = path, path.with_name(f"{path.name}.start")
        self._changed = threading.Condition(threading.RLock())
        self._loads = 0
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            self.load(json.loads((HERE / "start.json").read_text(encoding="utf-8")))

    def read(self) -> tuple[bytes, int]:
        """All of it, as it lies on the disk, and how often pages had to start anew until now."""
        with self._changed:
            return self._path.read_bytes(), self._loads

    def load(self, world: Any) -> None:
        """Replace everything; this is what `clear` goes back to. Raises Refused."""
        if not isinstance(world, dict) or set(world) != {"now", *NAMES}:
            raise Refused(HTTPStatus.BAD_REQUEST, f"a state has the keys now, {', '.join(sorted(NAMES))}")
        for name in NAMES:
            _check(world[name])
        with self._changed:
            _write(self._start, world)
            _write(self._path, world)
            self._announce()

    def put(self, name: str, part: Any) -> None:
        """Replace one app's part, for the page that shows it. Raises Refused."""
        _check(part)
        with self._changed:
            _write(self._path, json.loads(self._path.read_bytes()) | {name: part})

    def clear(self, name: str) -> None:
        """One app's part as it was loaded."""
        with self._changed:
            self.put(name, json.loads(self._start.read_bytes())[name])
            self._announce()

    def next_load(self, seen: int) -> int:
        """How often pages had to start anew, once that is not `seen` any more or time is up."""
        with self._changed:
            self._changed.wait_for(lambda: self._loads != seen, timeout=IDLE_SECONDS)
            return self._loads

    def _announce(self) -> None:
        self._loads += 1
        self._changed.notify_all()


def _check(part: Any) -> None:
    if not isinstance(part, dict):
        raise Refused(HTTPStatus.BAD_REQUEST, "an app's state is a JSON object")


def _write(path: Path, world: dict[str, Any]) -> None:
    draft = path.with_name(f"{path.name}.new")
    draft.write_text(json.dumps(world, ensure_ascii=False, indent=1), encoding="utf-8")
    os.replace(draft, path)


class Handler(BaseHTTPRequestHandler):
    """One connection of a page."""

    protocol_version = "HTTP/1.1"
    timeout = IDLE_SECONDS
    server: "Server"

    def do_GET(self) -> None:
        self._answered(self._get)

    def do_PUT(self) -> None:
        self._answered(self._put)

    def do_DELETE(self) -> None:
        self._answered(lambda path: self._with_name(path, self.server.state.clear))

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing reads a log inside the phone."""

    def _answered(self, act: Callable[[str], None]) -> None:
        try:
            act(unquote(urlsplit(self.path).path))
        except Refused as refused:
            self._send(str(refused).encode(), "text/plain", refused.status)
            self.close_connection = True  # its body may not have been read

    def _get(self, path: str) -> None:
        if path == "/api/state":
            body, loads = self.server.state.read()
            self._send(body, "application/json", loads=str(loads))
        elif path.startswith(CHANGES):
            self._stream(_number(path.removeprefix(CHANGES)))
        elif path.endswith("/") and path.strip("/") in PAGES:
            self._send((HERE / "shell.html").read_bytes(), "text/html")
        else:
            self._send(*_file(path))

    def _put(self, path: str) -> None:
        length = _number(self.headers.get("Content-Length") or "")
        if not 0 < length <= MAX_BYTES:
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a state has 1 to {MAX_BYTES} bytes")
        try:
            body = json.loads(self.rfile.read(length))
        except ValueError as error:
            raise Refused(HTTPStatus.BAD_REQUEST, f"no JSON: {error}") from error
        if path == "/api/state":
            self.server.state.load(body)
            self._send(b"", "text/plain", HTTPStatus.NO_CONTENT)
        else:
            self._with_name(path, lambda name: self.server.state.put(name, body))

    def _with_name(self, path: str, act: Callable[[str], None]) -> None:
        name = path.removeprefix("/api/state/")
        if name not in NAMES:
            raise Refused(HTTPStatus.NOT_FOUND, f"there is no {path}")
        act(name)
        self._send(b"", "text/plain", HTTPStatus.NO_CONTENT)

    def _stream(self, seen: int) -> None:
        """Tell the page, until it goes, each time what it shows was replaced."""
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            while True:
                loads = self.server.state.next_load(seen)
                self.wfile.write(b"data: load\n\n" if loads != seen else b": as before\n\n")
                self.wfile.flush()
                seen = loads
        except OSError:
            self.close_connection = True  # the page has gone

    def _send(self, body: bytes, kind: str, status: HTTPStatus = HTTPStatus.OK, **headers: str) -> None:
        self.send_response(status)
        if status is not HTTPStatus.NO_CONTENT:
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def _number(text: str) -> int:
    """A number as it stands in an address or header; 0 for anything else."""
    return int(text) if text.isascii() and text.isdigit() else 0


def _file(path: str) -> tuple[bytes, str]:
    """A file that belongs to the apps. Raises Refused for any other."""
    found = (HERE / path.lstrip("/")).resolve()
    kind = TYPES.get(found.suffix)
    if kind is None or not found.is_relative_to(HERE) or not found.is_file():
        raise Refused(HTTPStatus.NOT_FOUND, f"there is no {path}")
    return found.read_bytes(), kind


class Server(ThreadingHTTPServer):
    """Listens on the loopback for the phone's browser."""

    daemon_threads = True

    def __init__(self, port: int, state: State) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.state = state


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--port", type=int, default=MANIFEST["server"]["port"], help="0: any that is free")
    arguments = parser.parse_args()
    with Server(arguments.port, State(arguments.state)) as server:
        print(f"listening on 127.0.0.1:{server.server_address[1]}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
