"""Serves OSWorld's in-guest interface inside a sandbox: `python3 -m vm_bridge.guest.osworld.main`."""

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from vm_bridge.guest.linux.detached import start_detached
from vm_bridge.guest.osworld import LOOPBACK, PORT
from vm_bridge.guest.osworld.api import Call, GuestApi, Reply, json_reply
from vm_bridge.guest.osworld.screenshots import screen_size, take_screenshot
from vm_bridge.guest.osworld.windows import open_display

MAX_BODY_BYTES = 300 * 2**20
OPENER = "/image/bin/xdg-open"


class SandboxDesktop:
    """The desktop of the sandbox that this program runs in; see `api.GuestDesktop`."""

    def __init__(self) -> None:
        self.home = Path.home()
        self.environment = dict(os.environ)
        self._wallpaper: Path | None = None

    @property
    def wallpaper(self) -> Path | None:
        return self._wallpaper

    @wallpaper.setter
    def wallpaper(self, path: Path | None) -> None:
        self._wallpaper = path
        if path is not None:
            self.launch(["pcmanfm", "--set-wallpaper", str(path)])

    def screenshot(self) -> bytes:
        return take_screenshot(self.environment["DISPLAY"])

    def screen_size(self) -> tuple[int, int]:
        return screen_size(self.environment["DISPLAY"])

    def launch(self, argv: str | list[str], *, shell: bool = False) -> None:
        start_detached(argv, shell=shell, folder=self.home, environment=self.environment)

    def opener(self, path: Path) -> list[str]:
        return [OPENER, str(path)]


class GuestServer(ThreadingHTTPServer):
    """The interface over HTTP; every connection has a thread of its own."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], api: GuestApi) -> None:
        self.api = api
        super().__init__(address, RequestHandler)

    def server_bind(self) -> None:
        """Without the look-up of this machine's own name, which takes seconds where no name server answers."""
        self.allow_reuse_address = True
        self.socket.bind(self.server_address)
        self.server_name, self.server_port = LOOPBACK, self.socket.getsockname()[1]


class RequestHandler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: GuestServer

    def do_GET(self) -> None:
        self._answer("GET")

    def do_POST(self) -> None:
        self._answer("POST")

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""

    def _answer(self, method: str) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        if not 0 <= length <= MAX_BODY_BYTES:
            self.close_connection = True
            self._send(json_reply({"status": "error", "message": f"more than {MAX_BODY_BYTES} bytes"}, 413))
            return
        body = self.rfile.read(length)
        path = self.path.partition("?")[0]
        self._send(self.server.api.handle(method, Call(path, self.headers.get("Content-Type", ""), body)))

    def _send(self, reply: Reply) -> None:
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.media_type)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)


def leave_corner(display_name: str) -> None:
    """Move a pointer that rests in a corner out of it: there PyAutoGUI refuses what task files do with it."""
    with open_display(display_name) as server:
        root = server.screen().root
        size, pointer = root.get_geometry(), root.query_pointer()
        if pointer.root_x in (0, size.width - 1) and pointer.root_y in (0, size.height - 1):
            root.warp_pointer(size.width - 2, size.height - 2)
            server.sync()


def main() -> None:
    """Until the sandbox ends."""
    leave_corner(os.environ["DISPLAY"])
    GuestServer((LOOPBACK, PORT), GuestApi(SandboxDesktop())).serve_forever()


if __name__ == "__main__":
    main()
