"""The proxy of the compose file finds its servers where they come back: a real nginx, names of this test's."""

import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from annotation_app.operations.runtime.nginx import NginxConfig, render_nginx_config
from annotation_app.operations.runtime.ports import free_port
from benchmarks.parts.nginx import NGINX
from tests.integration.deploy.stack import DOCKER
from tests.waiting import wait_until

NAMES = ("web-1", "web-2", "bridge", "vnc")
FIRST, SECOND = "127.0.0.2", "127.0.0.3"
HOSTS = """#!/bin/sh
# `getent ahostsv4 NAME`, as of the file that has a line for each.
line=$(grep "^$2 " "$PLACES") || exit 2
echo "${line#* }       STREAM $2"
"""
REFUSING = """#!/bin/sh
# A program that fails with what is about the file REFUSED names, and tells that it did.
case "$*" in
  *"$(cat "$REFUSED")"*) touch "$REFUSED.seen"; exit 1 ;;
esac
exec "$(PATH=${PATH#*:}; command -v "$(basename "$0")")" "$@"
"""

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")


class Server(ThreadingHTTPServer):
    """Says at which address it was found. Who asks for a socket is told the rest when `rest` is set."""

    daemon_threads = True

    def __init__(self, host: str, port: int) -> None:
        self.rest = threading.Event()
        super().__init__((host, port), Answer)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Answer(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        lasting = "Upgrade" in self.headers
        self.send_response(101 if lasting else 200)
        if lasting:
            self.send_header("Upgrade", "test")
            self.send_header("Connection", "upgrade")
        self.end_headers()
        self.wfile.write(str(self.server.server_address[0]).encode())
        if lasting:
            self.server.rest.wait(60)
            self.wfile.write(b" and the rest")

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the proxy has a log."""


class Front:
    """The proxy, asked as people ask it; and where its servers are."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        """Every server's."""
        self._pages, self._streams = free_port(), free_port()
        self._places = folder / "places"
        tools = folder / "tools"
        tools.mkdir()
        for name, text in (("getent", HOSTS), ("sed", REFUSING), ("mv", REFUSING)):
            (tools / name).write_text(text)
            (tools / name).chmod(0o755)
        self._refused = folder / "refused"
        self.refuse("/of nobody/")
        configuration = folder / "nginx.conf"
        configuration.write_text(
            render_nginx_config(
                NginxConfig(
                    name="_", web=(f"web-1:{self.port}", f"web-2:{self.port}"), bridges=(f"bridge:{self.port}",),
                    gateways=(f"vnc:{self.port}",), listen=f"127.0.0.1:{self._pages}",
                    bridge_listen=f"127.0.0.1:{self._streams}", vnc_listen=f"127.0.0.1:{free_port()}",
                    folder=folder, log=str(folder / "access.log"),
                )
            )
        )  # fmt: skip
        self._words = [str(DOCKER / "proxy.sh"), str(configuration), *NAMES]
        self._environment = {
            "PATH": f"{tools}:/usr/sbin:{os.environ['PATH']}",
            "TMPDIR": str(folder),
            "PLACES": str(self._places),
            "REFUSED": str(self._refused),
        }
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Return when it listens."""
        self._process = subprocess.Popen(self._words, env=self._environment)
        wait_until(self._listens)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(30)

    def put(self, **places: str) -> None:
        """Have servers be at these addresses, `web_1` for `web-1`, and nowhere else."""
        lines = [f"{name.replace('_', '-')} {place}\n" for name, place in places.items()]
        aside = self._places.with_suffix(".new")
        aside.write_text("".join(lines))
        aside.rename(self._places)

    def refuse(self, what: str) -> None:
        """From now on have programs fail that are about this file, and no others."""
        aside = self._refused.with_suffix(".new")
        aside.write_text(what)
        aside.rename(self._refused)

    def has_refused(self) -> bool:
        return self._refused.with_suffix(".seen").exists()

    def page(self) -> str:
        """Who answers, or that nobody does."""
        return self._asked(f"http://127.0.0.1:{self._pages}/")

    def stream(self) -> str:
        """The same of the bridge."""
        return self._asked(f"http://127.0.0.1:{self._streams}/streams/x")

    def everywhere(self) -> set[str]:
        """Who answers, to several requests of pages and one of the bridge. For a moment after nginx has read its
        configuration again, its processes of before still take requests beside the new ones."""
        return {*(self.page() for _ in range(4)), self.stream()}

    def desk(self) -> socket.socket:
        """An open socket."""
        made = socket.create_connection(("127.0.0.1", self._pages), timeout=60)
        made.sendall(b"GET /ws/episodes/x HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: test\r\n\r\n")
        return made

    def _listens(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, "it ended"
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self._pages)) == 0

    @staticmethod
    def _asked(url: str) -> str:
        answer = httpx.get(url, timeout=30, trust_env=False)
        return answer.text if answer.is_success else str(answer.status_code)


def read_until(one: socket.socket, end: bytes) -> None:
    """Raises AssertionError where that never comes."""
    seen = b""
    while end not in seen:
        part = one.recv(4096)
        assert part, seen
        seen += part


@pytest.fixture
def front(tmp_path: Path) -> Iterator[Front]:
    """A proxy that is not started yet."""
    made = Front(tmp_path)
    try:
        yield made
    finally:
        made.stop()


@pytest.fixture
def servers(front: Front) -> Iterator[dict[str, Server]]:
    """One at each address."""
    made = {host: Server(host, front.port) for host in (FIRST, SECOND)}
    yield made
    for each in made.values():
        each.rest.set()
        each.shutdown()
        each.server_close()


def test_servers_may_come_later(front: Front, servers: dict[str, Server]) -> None:
    """After a restart of the host they come in any order; nginx by itself does not start where one has no address."""
    front.put(web_1=FIRST)
    front.start()
    assert {front.page() for _ in range(4)} == {FIRST}
    assert front.stream() == "502"
    front.put(web_1=FIRST, bridge=SECOND)
    wait_until(lambda: front.stream() == SECOND)


def test_servers_may_come_back_elsewhere(front: Front, servers: dict[str, Server]) -> None:
    """Whoever has the old address now is asked no more, and sockets that are open stay."""
    front.put(web_1=FIRST, web_2=FIRST, bridge=FIRST, vnc=FIRST)
    front.start()
    with front.desk() as desk:
        read_until(desk, FIRST.encode())
        front.put(web_1=SECOND, web_2=SECOND, bridge=SECOND, vnc=SECOND)
        wait_until(lambda: front.everywhere() == {SECOND})
        servers[FIRST].rest.set()
        read_until(desk, b" and the rest")


def test_a_name_that_is_not_known_for_a_while_stays_where_it_was(front: Front, servers: dict[str, Server]) -> None:
    front.put(web_1=FIRST, bridge=FIRST)
    front.start()
    front.put(bridge=SECOND)
    wait_until(lambda: front.stream() == SECOND)
    assert front.page() == FIRST


@pytest.mark.parametrize("file", ["nginx.conf", "proxy.conf.new", "web-2.place.new"])
def test_a_round_that_fails_is_not_the_last(front: Front, servers: dict[str, Server], file: str) -> None:
    """The configuration cannot be read or written, or an address be kept, for a while: all stays until it can."""
    front.put(web_1=FIRST, web_2=FIRST, bridge=FIRST, vnc=FIRST)
    front.start()
    front.refuse(file)
    front.put(web_1=SECOND, web_2=SECOND, bridge=SECOND, vnc=SECOND)
    wait_until(front.has_refused)
    assert front.page() == FIRST
    front.refuse("/of nobody/")
    wait_until(lambda: front.everywhere() == {SECOND})
