"""The container engine, as a host speaks to it: Docker's HTTP interface, which other engines have too."""

import json
import os
import socket
from collections.abc import Mapping, Set
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlencode

from vm_bridge.errors import MachineGone

SOCKET = "unix:///var/run/docker.sock"
"""Where an engine listens, unless DOCKER_HOST says otherwise."""
VERSION = "v1.41"
"""Of the interface: that of Docker 20.10, which later ones speak too."""
REQUEST_TIMEOUT_SECONDS = 60.0
"""Longest one call may take."""
NOT_FOUND, CONFLICT = 404, 409
LABEL = "pilothouse.host"
"""Whose a container is: the folder of the host that made it."""
LIMIT_CONTROLLERS = {"MemoryLimit": "memory", "CpuCfsQuota": "cpu", "PidsLimit": "pids"}
"""What the engine says that it can bound, and the control group's name for it."""


class ContainerEngine:
    """Calls come from any thread and raise MachineGone when the engine does not do them."""

    def __init__(self, address: str | None = None) -> None:
        self._address = address or os.environ.get("DOCKER_HOST") or SOCKET
        self._missing: tuple[str, ...] | None = None

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

    def remove(self, name: str) -> None:
        """End all its processes and remove it. One that is gone, or is going, is none."""
        self.ask("DELETE", f"/containers/{name}", expected={NOT_FOUND, CONFLICT}, query={"force": "true", "v": "true"})

    def memory(self, name: str) -> int:
        """What its processes and files take now (bytes), without what the kernel only keeps at hand."""
        query = {"stream": "false", "one-shot": "true"}
        status, said = self.ask("GET", f"/containers/{name}/stats", query=query, expected={NOT_FOUND})
        told = said["memory_stats"] if status != NOT_FOUND else {}
        kept = told.get("stats", {})
        idle = kept.get("total_inactive_file", kept.get("inactive_file", 0))
        return max(0, int(told.get("usage", 0)) - int(idle))

    def names(self, host: str) -> list[str]:
        """The containers of a host, those that have ended too."""
        query = {"all": "true", "filters": json.dumps({"label": [f"{LABEL}={host}"]})}
        _, found = self.ask("GET", "/containers/json", query=query)
        return [str(each["Names"][0]).removeprefix("/") for each in found]

    def has(self, image: str) -> bool:
        """Whether there is such an image."""
        return self.ask("GET", f"/images/{image}/json", expected={NOT_FOUND})[0] != NOT_FOUND

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
        """The status and what the engine says; `expected` are those that are no failure."""
        target = f"/{VERSION}{path}?{urlencode(query or {})}"
        try:
            with closing(_UnixConnection(self._address)) as http:
                http.request(method, target, json.dumps(body) if body else None, {"Content-Type": "application/json"})
                answer = http.getresponse()
                said = answer.read()
                told = json.loads(said) if said else None
        except (OSError, HTTPException, ValueError) as error:
            raise MachineGone(f"no container engine answers at {self._address}: {error}") from error
        if answer.status >= 400 and answer.status not in expected:
            raise MachineGone(f"the container engine refused {path}: {str(told)[:300]}")
        return answer.status, told


class _UnixConnection(HTTPConnection):
    """One call over the engine's socket."""

    def __init__(self, address: str) -> None:
        super().__init__("engine", timeout=REQUEST_TIMEOUT_SECONDS)
        self._address = address

    def connect(self) -> None:
        if not self._address.startswith("unix://"):
            # One on another machine would see none of the sockets that the bridge and the guests share.
            raise OSError("only unix:// will do")
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._address.removeprefix("unix://"))
