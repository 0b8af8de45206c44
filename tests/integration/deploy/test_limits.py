"""What the proxy lets through: bodies of people who are signed in, and so many requests from one address."""

import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from annotation_app.operations.runtime.nginx import SIGN_INS_PER_SECOND
from annotation_app.operations.runtime.ports import free_port
from benchmarks.parts.nginx import NGINX, run_nginx
from tests.waiting import wait_until

COOKIE = {"Cookie": "sessionid=good"}
MEGABYTE = b"x" * 1024 * 1024
UPLOADS = (
    "/api/imports/uploads/0a-1b",
    "/api/imports",
    "/api/pools/7/tasks",
    "/api/design/graph",
    "/api/episodes/0a-1b/uploads",
)

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")


class Web(ThreadingHTTPServer):
    """A web process that knows one session, and notes the bytes of each body."""

    daemon_threads = True

    def __init__(self, port: int) -> None:
        self.bodies: dict[str, int] = {}
        super().__init__(("127.0.0.1", port), Answer)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Answer(BaseHTTPRequestHandler):
    server: Web

    def do_GET(self) -> None:
        known = self.headers.get("Cookie") == COOKIE["Cookie"]
        asked = self.path == "/api/me/signed-in"
        self.send_response((204 if known else 401) if asked else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self) -> None:
        size = int(self.headers.get("Content-Length", 0))
        while size > 0:
            part = len(self.rfile.read(min(size, 65_536)))
            self.server.bodies[self.path] = self.server.bodies.get(self.path, 0) + part
            size -= part
        self.do_GET()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the proxy has a log."""


@dataclass
class Front:
    """A running nginx before one web process."""

    web: Web
    folder: Path
    port: int = field(default_factory=free_port)

    def post(self, path: str, body: bytes, headers: dict[str, str] | None = None) -> httpx.Response:
        return httpx.post(
            f"http://127.0.0.1:{self.port}{path}", content=body, headers=headers, timeout=30, trust_env=False
        )


@pytest.fixture
def front(tmp_path: Path) -> Iterator[Front]:
    behind = free_port()
    made = Front(Web(behind), tmp_path)
    with run_nginx(tmp_path, f"127.0.0.1:{made.port}", [f"127.0.0.1:{behind}"]):
        try:
            wait_until(lambda: _listens(made.port))
            yield made
        finally:
            made.web.shutdown()
            made.web.server_close()


def _listens(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize("path", UPLOADS)
def test_a_body_is_read_once_somebody_is_known(front: Front, path: str) -> None:
    """Who is not signed in has not a byte of it passed on or written to a file."""
    refused = front.post(path, MEGABYTE * 8)
    assert (refused.status_code, refused.json()["code"]) == (401, "not_signed_in")
    assert front.web.bodies == {}
    assert [file for file in (front.folder / "bodies").rglob("*") if file.is_file()] == []
    assert front.post(path, MEGABYTE * 8, COOKIE).status_code == 200
    assert front.web.bodies == {path: 8 * len(MEGABYTE)}


def test_other_bodies_are_small(front: Front) -> None:
    assert front.post("/api/queue/next", MEGABYTE, COOKIE).status_code == 200
    assert front.post("/api/queue/next", MEGABYTE + b"x", COOKIE).status_code == 413
    assert front.web.bodies == {"/api/queue/next": len(MEGABYTE)}


def test_no_body_of_a_stranger_is_written_to_a_file(front: Front) -> None:
    """Neither with its length nor in chunks, whose framing comes on top of it."""
    parts = [MEGABYTE[:4096]] * 256
    url = f"http://127.0.0.1:{front.port}/api/queue/next"
    assert httpx.post(url, content=iter(parts), timeout=30, trust_env=False).status_code == 200
    assert front.post("/api/queue/next", MEGABYTE).status_code == 200
    assert "temporary file" not in (front.folder / "nginx.log").read_text()


def test_a_part_of_an_upload_is_bounded(front: Front) -> None:
    assert front.post("/api/imports/uploads/0a-1b", MEGABYTE * 9 + b"x", COOKIE).status_code == 413
    assert front.post("/api/imports/uploads", MEGABYTE + b"x", COOKIE).status_code == 413
    assert front.web.bodies == {}


def test_the_question_who_is_signed_in_is_asked_by_the_proxy_alone(front: Front) -> None:
    answer = httpx.get(f"http://127.0.0.1:{front.port}/signed-in", headers=COOKIE, timeout=30, trust_env=False)
    assert answer.status_code == 404


def test_sign_ins_from_one_address_are_bounded(front: Front) -> None:
    tries = 20 * SIGN_INS_PER_SECOND
    with httpx.Client(base_url=f"http://127.0.0.1:{front.port}", timeout=30, trust_env=False) as http:
        statuses = [http.post("/api/session").status_code for _ in range(tries)]
        assert set(statuses) == {200, 429}
        assert http.get("/api/queue").status_code == 200, "other requests go on"
