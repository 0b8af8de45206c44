"""Desktops in containers for tests, where an engine answers that has the image."""

from functools import cache
from pathlib import Path

import pytest

from vm_bridge.errors import MachineGone
from vm_bridge.hosts.docker.container import IMAGE as CONTAINER
from vm_bridge.hosts.docker.container import SYSTEM_IMAGE
from vm_bridge.hosts.docker.engine import ContainerEngine
from vm_bridge.hosts.docker.host import DockerHost
from vm_bridge.network.egress_proxy import EgressProxy
from vm_bridge.network.sandbox_network import EgressFactory


@cache
def _missing() -> str | None:
    """Why there are no containers here; None when there are."""
    engine = ContainerEngine()
    try:
        return None if engine.has(SYSTEM_IMAGE) else f"needs the image: docker build -t {SYSTEM_IMAGE} docker/sandbox"
    except MachineGone as gone:
        return f"needs a container engine: {gone}"


def need_engine() -> None:
    """Skip the test where no container can be had."""
    reason = _missing()
    if reason is not None:
        pytest.skip(reason)


def docker_host(data: Path, make_egress: EgressFactory = EgressProxy) -> DockerHost:
    """Of the image that docker/sandbox makes."""
    return DockerHost(data, make_egress=make_egress)


__all__ = ["CONTAINER", "docker_host", "need_engine"]
