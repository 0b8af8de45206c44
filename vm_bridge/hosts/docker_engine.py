"""The container engine, as a host speaks to it: Docker's HTTP interface, which other engines have too."""

import json
import os
from collections.abc import Mapping, Set
from typing import Any

import httpx

from vm_bridge.errors import MachineGone

SOCKET = "unix:///var/run/docker.sock"
"""Where an engine listens, unless DOCKER_HOST says otherwise."""
VERSION = "v1.41"
"""Of the interface: that of Docker 20.10, which later ones speak too."""
SECONDS = 60.0
"""Longest one call may take."""
GONE, BUSY = 404, 409
LABEL = "pilothouse.host"
"""Whose a container is: the folder of the host that made it."""
BOUNDS = {"MemoryLimit": "memory", "CpuCfsQuota": "cpu", "PidsLimit": "pids"}
"""What the engine says that it can bound, and the control group's name for it."""


class Engine:
    """Calls come from any thread and raise MachineGone when the engine does not do them."""

    def __init__(self, address: str | None = None) -> None:
        self._address = address or os.environ.get("DOCKER_HOST") or SOCKET
        self._missing: tuple[str, ...] | None = None
        # One on another machine would see none of the sockets that the bridge and the guests share.
        path = self._address.removeprefix("unix://") if self._address.startswith("unix://") else ""
        self._http = httpx.Client(
            transport=httpx.HTTPTransport(uds=path), base_url=f"http://engine/{VERSION}", timeout=SECONDS
        )

    def start(self, name: str, plan: Mapping[str, Any]) -> int:
        """Make a container and start it; the number of its first process."""
        made = self._ask("POST", "/containers/create", {GONE}, params={"name": name}, json=plan)
        if made.status_code == GONE:
            image = plan["Image"]
            raise MachineGone(f"the engine has no image {image!r}; docker build -t {image} docker/sandbox makes it")
        try:
            self._ask("POST", f"/containers/{name}/start")
            return int(self._ask("GET", f"/containers/{name}/json").json()["State"]["Pid"])
        except MachineGone:
            self.remove(name)
            raise

    def remove(self, name: str) -> None:
        """End all its processes and remove it. One that is gone, or is going, is none."""
        self._ask("DELETE", f"/containers/{name}", {GONE, BUSY}, params={"force": True, "v": True})

    def memory(self, name: str) -> int:
        """What its processes and files take now (bytes), without what the kernel only keeps at hand."""
        params = {"stream": False, "one-shot": True}
        told = self._ask("GET", f"/containers/{name}/stats", params=params).json()["memory_stats"]
        kept = told.get("stats", {})
        idle = kept.get("total_inactive_file", kept.get("inactive_file", 0))
        return max(0, int(told.get("usage", 0)) - int(idle))

    def names(self, host: str) -> list[str]:
        """The containers of a host, those that have ended too."""
        filters = json.dumps({"label": [f"{LABEL}={host}"]})
        found = self._ask("GET", "/containers/json", params={"all": True, "filters": filters}).json()
        return [str(each["Names"][0]).removeprefix("/") for each in found]

    def has(self, image: str) -> bool:
        """Whether there is such an image."""
        return self._ask("GET", f"/images/{image}/json", {GONE}).status_code != GONE

    def missing(self) -> tuple[str, ...]:
        """The control groups that it cannot have; asked once."""
        if self._missing is None:
            told = self._ask("GET", "/info").json()
            self._missing = tuple(name for key, name in BOUNDS.items() if not told.get(key, False))
        return self._missing

    def close(self) -> None:
        """Hang up. Idempotent."""
        self._http.close()

    def _ask(self, method: str, path: str, expected: Set[int] = frozenset(), **said: Any) -> httpx.Response:
        try:
            answer = self._http.request(method, path, **said)
        except httpx.TransportError as error:
            raise MachineGone(f"no container engine answers at {self._address}: {error}") from error
        if answer.is_error and answer.status_code not in expected:
            raise MachineGone(f"the container engine refused {path}: {answer.text.strip()[:300]}")
        return answer
