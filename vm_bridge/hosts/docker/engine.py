"""The container engine, as a host speaks to it: Docker's HTTP interface, which other engines have too."""

import json
import os
import re
import socket
import time
from collections.abc import Generator, Mapping, Set
from contextlib import ExitStack, closing
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any
from urllib.parse import quote, urlencode

from vm_bridge.errors import MachineGone

SOCKET = "unix:///var/run/docker.sock"
"""Where an engine listens, unless DOCKER_HOST says otherwise."""
VERSION = "v1.41"
"""Of the interface: that of Docker 20.10. An engine that no longer speaks it names the oldest that it does."""
REQUEST_TIMEOUT_SECONDS = 60.0
"""Longest one call may take."""
MAX_MESSAGE_BYTES = 256 * 1024
"""Longest message of a stream."""
MAX_HEAD_BYTES = 16 * 1024
BAD_REQUEST, NOT_FOUND, CONFLICT = 400, 404, 409
LABEL = "pilothouse.host"
"""Whose a container or an image is: the folder of the host that made it."""
LIMIT_CONTROLLERS = {"MemoryLimit": "memory", "CpuCfsQuota": "cpu", "PidsLimit": "pids"}
"""What the engine says that it can bound, and the control group's name for it."""
_OLDEST_VERSION = re.compile(r"is too old\. Minimum supported API version is (\d+\.\d+)")
JSON_TYPE, TAR_TYPE = "application/json", "application/x-tar"


class EngineRefused(MachineGone):
    """The engine answers, and does not do what it was asked; the message has its reason."""


class ContainerEngine:
    """Calls come from any thread and raise MachineGone when the engine does not do them."""

    def __init__(self, address: str | None = None) -> None:
        self._address = address or os.environ.get("DOCKER_HOST") or SOCKET
        self._missing: tuple[str, ...] | None = None
        self._version = VERSION

    def start(self, name: str, plan: Mapping[str, Any]) -> int:
        """Make a container and start it; the number of its first process."""
        status, _ = self.ask("POST", "/containers/create", expected={NOT_FOUND}, body=plan, query={"name": name})
        if status == NOT_FOUND:
            image = plan["Image"]
            raise MachineGone(f"the engine has no image {image!r}; docker build -t {image} docker/sandbox makes it")
        try:
            self.ask("POST", f"/containers/{name}/start")
            return int(self.ask("GET", f"/containers/{name}/json")[1]["State"]["Pid"])
        except MachineGone:
            self.remove(name)
            raise

    def restart(self, name: str) -> None:
        """End all processes of a container at once and begin it again; its files stay. Raises EngineRefused."""
        self.ask("POST", f"/containers/{name}/restart", query={"t": "0"})

    def remove(self, name: str) -> None:
        """End all its processes and remove it. One that is gone, or is going, is none."""
        self.ask("DELETE", f"/containers/{name}", expected={NOT_FOUND, CONFLICT}, query={"force": "true", "v": "true"})

    def stats(self, name: str) -> Mapping[str, Any]:
        """What the engine counts of a container; nothing where there is none."""
        query = {"stream": "false", "one-shot": "true"}
        status, said = self.ask("GET", f"/containers/{name}/stats", query=query, expected={NOT_FOUND})
        return said if status != NOT_FOUND else {}

    def memory(self, name: str) -> int:
        """What its processes and files take now (bytes), without what the kernel only keeps at hand."""
        return memory_of(self.stats(name))

    def written(self, name: str) -> int:
        """What it has written onto the disk (bytes)."""
        status, said = self.ask("GET", f"/containers/{name}/json", query={"size": "true"}, expected={NOT_FOUND})
        return int(said.get("SizeRw") or 0) if status != NOT_FOUND else 0

    def put_archive(self, name: str, archive: bytes) -> None:
        """Unpack a tar archive at the root of a container, as root."""
        query = {"path": "/", "noOverwriteDirNonDir": "true"}
        self.ask("PUT", f"/containers/{name}/archive", query=query, body=archive)

    def names(self, host: str) -> list[str]:
        """The containers of a host, those that have ended too."""
        query = {"all": "true", "filters": json.dumps({"label": [f"{LABEL}={host}"]})}
        _, found = self.ask("GET", "/containers/json", query=query)
        return [str(each["Names"][0]).removeprefix("/") for each in found]

    def has(self, image: str) -> bool:
        """Whether there is such an image."""
        return self.image_size(image) is not None

    def image_size(self, image: str) -> int | None:
        """How large an image is (bytes); None where there is none."""
        status, said = self.ask("GET", f"/images/{quote(image)}/json", expected={NOT_FOUND})
        return None if status == NOT_FOUND else int(said.get("Size") or 0)

    def image_names(self, image: str) -> list[str]:
        """What an image is called by people; nothing where it is a layer only."""
        status, said = self.ask("GET", f"/images/{quote(image)}/json", expected={NOT_FOUND})
        return [] if status == NOT_FOUND else list(said.get("RepoTags") or said.get("RepoDigests") or [])

    def images(self, host: str) -> list[str]:
        """The images that a host built, the newest first."""
        query = {"filters": json.dumps({"label": [f"{LABEL}={host}"]})}
        _, found = self.ask("GET", "/images/json", query=query)
        found.sort(key=lambda image: int(image["Created"]), reverse=True)
        return [str(image["Id"]) for image in found]

    def remove_image(self, image: str) -> None:
        """Remove an image that no container needs; another stays."""
        path = f"/images/{quote(image)}"
        self.ask("DELETE", path, expected={NOT_FOUND, CONFLICT}, query={"force": "true"})

    def missing(self) -> tuple[str, ...]:
        """The control groups that it cannot have; asked once."""
        if self._missing is None:
            _, told = self.ask("GET", "/info")
            self._missing = tuple(name for key, name in LIMIT_CONTROLLERS.items() if not told.get(key, False))
        return self._missing

    def ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: object = None,
        expected: Set[int] = frozenset(),
    ) -> tuple[int, Any]:
        """The status and what the engine says; `expected` are those that are no failure. A body is JSON, or bytes of a
        tar archive."""
        try:
            with closing(_UnixConnection(self._address)) as http:
                answer = self._send(http, method, path, query, body)
                said = answer.read()
                told = json.loads(said) if said else None
        except (OSError, HTTPException, ValueError) as error:
            raise self._silent(error) from error
        if answer.status == BAD_REQUEST and self._learn_version(_reason(told)):
            return self.ask(method, path, query=query, body=body, expected=expected)
        if answer.status >= 400 and answer.status not in expected:
            raise EngineRefused(f"the container engine refused {path}: {_reason(told)}")
        return answer.status, told

    def messages(
        self, path: str, *, query: Mapping[str, str], body: bytes, timeout: float
    ) -> Generator[Mapping[str, Any], None, None]:
        """What the engine tells, message by message, while it does something long; closing the iterator cancels it.

        Raises TimeoutError where it does not end within `timeout` seconds.
        """
        ends = time.monotonic() + timeout
        try:
            with closing(_UnixConnection(self._address, timeout)) as http:
                http.connect()
                connection = http.sock
                answer = self._send(http, "POST", path, query, body)
                if answer.status >= 400:
                    raise EngineRefused(_reason(json.loads(answer.read(MAX_MESSAGE_BYTES) or b"null")))
                while line := answer.readline(MAX_MESSAGE_BYTES):
                    yield json.loads(line)
                    connection.settimeout(max(0.001, ends - time.monotonic()))
        except TimeoutError:
            raise
        except (OSError, HTTPException, ValueError) as error:
            raise self._silent(error) from error

    def hijack(self, path: str, body: object) -> socket.socket:
        """The raw connection that a call becomes. The caller closes it."""
        data = json.dumps(body).encode()
        head = (
            f"POST /{self._version}{path} HTTP/1.1\r\nHost: engine\r\nContent-Type: {JSON_TYPE}\r\n"
            f"Content-Length: {len(data)}\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n"
        )
        http = _UnixConnection(self._address)
        with ExitStack() as failing:
            failing.callback(http.close)
            try:
                http.connect()
                http.sock.sendall(head.encode() + data)
                status = _read_status(http.sock)
            except (OSError, ValueError) as error:
                raise self._silent(error) from error
            if status not in (101, 200):
                told = http.sock.recv(MAX_MESSAGE_BYTES).decode("utf-8", "replace")
                raise EngineRefused(f"the container engine refused {path}: {told[:2000]}")
            failing.pop_all()
        connection: socket.socket = http.sock
        return connection

    def _learn_version(self, reason: str) -> bool:
        """Whether the engine refuses this version of the interface, and names another, which is spoken from now on."""
        oldest = _OLDEST_VERSION.search(reason)
        if oldest is None or self._version == f"v{oldest[1]}":
            return False
        self._version = f"v{oldest[1]}"
        return True

    def _send(
        self, http: "_UnixConnection", method: str, path: str, query: Mapping[str, str] | None, body: object
    ) -> HTTPResponse:
        archive = isinstance(body, bytes)
        data = body if isinstance(body, bytes) else json.dumps(body).encode() if body else None
        target = f"/{self._version}{path}?{urlencode(query or {})}"
        http.request(method, target, data, {"Content-Type": TAR_TYPE if archive else JSON_TYPE})
        return http.getresponse()

    def _silent(self, error: Exception) -> MachineGone:
        return MachineGone(f"no container engine answers at {self._address}: {error}")


def memory_of(stats: Mapping[str, Any]) -> int:
    """What a container takes (bytes), by what the engine counts."""
    told = stats.get("memory_stats", {})
    kept = told.get("stats", {})
    idle = kept.get("total_inactive_file", kept.get("inactive_file", 0))
    return max(0, int(told.get("usage", 0)) - int(idle))


def _reason(told: object) -> str:
    return str(told.get("message", told) if isinstance(told, dict) else told)[:2000]


def _read_status(connection: socket.socket) -> int:
    """The status of an answer. Its head is read byte by byte: what follows belongs to the stream. Raises ValueError."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = connection.recv(1)
        if not byte or len(head) > MAX_HEAD_BYTES:
            raise ValueError("the answer has no end")
        head += byte
    return int(head.split(b" ", 2)[1])


class _UnixConnection(HTTPConnection):
    """One call over the engine's socket."""

    def __init__(self, address: str, timeout: float = REQUEST_TIMEOUT_SECONDS) -> None:
        super().__init__("engine", timeout=timeout)
        self._address = address

    def connect(self) -> None:
        if not self._address.startswith("unix://"):
            # One on another machine would see none of the sockets that the bridge and the guests share.
            raise OSError("only unix:// will do")
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._address.removeprefix("unix://"))
