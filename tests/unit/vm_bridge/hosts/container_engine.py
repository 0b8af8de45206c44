"""A container engine over its real socket and protocol; the commands of its one container are processes here."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingUnixStreamServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

STREAMS = {"stdout": 1, "stderr": 2}
Query = Mapping[str, list[str]]


@dataclass
class Exec:
    """A command as it was asked for."""

    plan: dict[str, Any]
    code: int | None = None
    terminal: int | None = None


@dataclass
class FakeContainerEngine:
    """`folder` is the container's WORKDIR; what cannot be done without a container is only noted."""

    folder: Path
    socket: Path
    state: str = "running"
    """Of the container: missing, running, ended."""
    images: dict[str, dict[str, Any]] = field(default_factory=dict)
    build: list[dict[str, Any]] = field(default_factory=list)
    """What a build says."""
    build_status: int = 200
    build_ends: bool = True
    asked: list[tuple[str, str, Query]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    execs: dict[str, Exec] = field(default_factory=dict)
    stats: dict[str, Any] = field(default_factory=dict)
    written: int = 0
    """Bytes that the container has written."""
    hang_up: bool = False
    """Whether it breaks off as soon as a command has begun."""
    cancelled: threading.Event = field(default_factory=threading.Event)
    """Set when who waited for a build has gone."""

    @property
    def address(self) -> str:
        return f"unix://{self.socket}"

    def paths(self, method: str) -> list[str]:
        """What was asked by a method, in order."""
        return [path for each, path, _ in self.asked if each == method]

    @contextmanager
    def serving(self) -> Iterator["FakeContainerEngine"]:
        engine = self

        class Handler(_Handler):
            fake = engine

        server = ThreadingUnixStreamServer(str(self.socket), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    fake: FakeContainerEngine

    def handle_any(self) -> None:
        url = urlsplit(self.path)
        path = unquote(url.path.removeprefix("/v1.41"))
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.fake.asked.append((self.command, path, parse_qs(url.query)))
        self.fake.bodies.append(body)
        self.close_connection = True
        self.route(path, parse_qs(url.query), body)

    do_GET = do_POST = do_PUT = do_DELETE = handle_any

    def log_message(self, *args: Any) -> None:
        pass

    def route(self, path: str, query: Query, body: bytes) -> None:
        fake = self.fake
        if path.endswith("/exec"):
            if fake.state != "running":
                return self.answer(404 if fake.state == "missing" else 409, {"message": f"it is {fake.state}"})
            number = f"e{len(fake.execs)}"
            fake.execs[number] = Exec(json.loads(body))
            return self.answer(201, {"Id": number})
        if match := re.fullmatch(r"/exec/(\w+)/(start|json|resize)", path):
            return self.route_exec(fake.execs[match[1]], match[2], query)
        if path == "/build":
            return self.do_build(query)
        if path == "/images/json":
            found = [{"Id": name, **image} for name, image in fake.images.items()]
            return self.answer(200, found)
        if path.startswith("/images/"):
            return self.route_image(path.removeprefix("/images/").removesuffix("/json"))
        self.route_container(path)

    def route_container(self, path: str) -> None:
        fake = self.fake
        if path.endswith("/start"):
            fake.state = "running"
        elif self.command == "DELETE":
            fake.state = "missing"
        told: dict[str, object] = {
            "/containers/json": [],
            "/containers/create": {"Id": "c"},
            "stats": fake.stats,
        }
        found = told.get(path, told.get(path.rpartition("/")[2]))
        if found is None and self.command == "GET":
            found = {"State": {"Pid": os.getpid()}, "SizeRw": fake.written}
        self.answer(201 if path == "/containers/create" else 200, found)

    def route_image(self, name: str) -> None:
        found = self.fake.images.get(name)
        if found is not None and self.command == "DELETE":
            del self.fake.images[name]
        self.answer(404 if found is None else 200, found or {"message": "no such image"})

    def do_build(self, query: Query) -> None:
        if self.fake.build_status != 200:
            return self.answer(self.fake.build_status, {"message": "the Dockerfile cannot be read"})
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for message in self.fake.build:
            data = json.dumps(message).encode() + b"\r\n"
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        if not self.fake.build_ends:
            with suppress(ConnectionResetError):
                self.connection.recv(1)  # until the caller goes
            return self.fake.cancelled.set()
        if not any("error" in message for message in self.fake.build):
            self.fake.images[query["t"][0]] = {"Size": 1000, "Created": len(self.fake.images), "RepoTags": query["t"]}
        self.wfile.write(b"0\r\n\r\n")

    def route_exec(self, command: Exec, what: str, query: Query) -> None:
        if what == "json":
            return self.answer(200, {"Running": command.code is None, "ExitCode": command.code})
        if what == "resize":
            if command.terminal is not None:
                size = struct.pack("HHHH", int(query["h"][0]), int(query["w"][0]), 0, 0)
                fcntl.ioctl(command.terminal, termios.TIOCSWINSZ, size)
            return self.answer(201, None)
        self.wfile.write(b"HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n")
        if self.fake.hang_up:
            return
        if command.plan.get("User"):  # another user than the test's, whose files are this machine's: it is not run
            command.code = 0
            return
        if command.plan["Tty"]:
            self.run_on_terminal(command)
        else:
            self.run_on_pipes(command)

    def run_on_pipes(self, command: Exec) -> None:
        source = subprocess.PIPE if command.plan["AttachStdin"] else subprocess.DEVNULL
        with subprocess.Popen(
            command.plan["Cmd"],
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.fake.folder,
            env={**os.environ, "HOME": str(self.fake.folder)},
            start_new_session=True,
        ) as process:
            carriers = [
                threading.Thread(target=self.carry, args=(getattr(process, name), number))
                for name, number in STREAMS.items()
            ]
            if process.stdin is not None:
                carriers.append(threading.Thread(target=self.feed, args=(process.stdin,)))
            for carrier in carriers:
                carrier.start()
            command.code = process.wait() % 256
            for carrier in carriers[:2]:
                carrier.join()
            self.connection.shutdown(2)

    def carry(self, source: Any, number: int) -> None:
        with suppress(OSError):
            while data := os.read(source.fileno(), 8192):
                self.wfile.write(struct.pack(">BxxxI", number, len(data)) + data)

    def feed(self, target: Any) -> None:
        with suppress(OSError, ValueError), target:
            while data := self.rfile.read1(65_536):
                target.write(data)

    def run_on_terminal(self, command: Exec) -> None:
        master, slave = pty.openpty()
        command.terminal = master
        argv = ("setsid", "--ctty", *command.plan["Cmd"])
        with subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave, cwd=self.fake.folder) as process:
            os.close(slave)
            typing = threading.Thread(target=self.type, args=(master,), daemon=True)
            typing.start()
            with suppress(OSError):
                while data := os.read(master, 8192):
                    self.wfile.write(data)
            command.code = process.wait() % 256
        self.connection.shutdown(2)

    def type(self, master: int) -> None:
        with suppress(OSError):
            while data := self.connection.recv(8192):
                os.write(master, data)

    def answer(self, status: int, body: object) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(data)
