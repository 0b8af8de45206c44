"""Desktops in containers for tests, where an engine answers that has the image."""

from functools import cache
from pathlib import Path

import pytest

from vm_bridge.errors import MachineGone
from vm_bridge.hosts.docker import DockerHost
from vm_bridge.hosts.docker_engine import Engine
from vm_bridge.hosts.docker_tree import IMAGE as CONTAINER
from vm_bridge.hosts.docker_tree import SYSTEM
from vm_bridge.network.egress import Egress
from vm_bridge.network.gate import MakeEgress


@cache
def _missing() -> str | None:
    """Why there are no containers here; None when there are."""
    engine = Engine()
    try:
        return None if engine.has(SYSTEM) else f"needs the image: docker build -t {SYSTEM} docker/sandbox"
    except MachineGone as gone:
        return f"needs a container engine: {gone}"


def need_engine() -> None:
    """Skip the test where no container can be had."""
    reason = _missing()
    if reason is not None:
        pytest.skip(reason)


def docker_host(data: Path, make_egress: MakeEgress = Egress) -> DockerHost:
    """Of the image that docker/sandbox makes."""
    return DockerHost(data, make_egress=make_egress)


__all__ = ["CONTAINER", "docker_host", "need_engine"]
