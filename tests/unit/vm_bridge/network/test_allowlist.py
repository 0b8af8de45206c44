"""Which hosts a task's patterns let through."""

import pytest

from protocol.trajectory.tasks import Task
from vm_bridge.network.allowlist import AllowList

ALLOWED = AllowList.of(("example.org", "*.files.example.org", "api.example.org:8443", "10.0.0.7"))


@pytest.mark.parametrize(
    ("host", "port"),
    [
        ("example.org", 443),
        ("example.org", 80),
        ("EXAMPLE.org.", 443),
        ("a.files.example.org", 443),
        ("a.b.files.example.org", 80),
        ("api.example.org", 8443),
        ("10.0.0.7", 80),
    ],
)
def test_what_is_on_the_list_passes(host: str, port: int) -> None:
    assert ALLOWED.allows(host, port)


@pytest.mark.parametrize(
    ("host", "port"),
    [
        ("www.example.org", 443),
        ("notexample.org", 443),
        ("example.org.evil.example", 443),
        ("files.example.org", 443),
        ("evilfiles.example.org", 443),
        ("example.org", 22),
        ("api.example.org", 443),
        ("", 80),
        ("0x0a.0.0.7", 80),
    ],
)
def test_everything_else_does_not(host: str, port: int) -> None:
    assert not ALLOWED.allows(host, port)


def test_an_empty_list_allows_nothing() -> None:
    assert not AllowList.of(Task(id="t", instruction="Look.").network).allows("example.org", 80)


def test_a_star_is_every_host_on_the_usual_ports() -> None:
    every = AllowList.of(Task(id="t", instruction="Look.", network=("*",)).network)
    assert every.allows("anything.example", 443)
    assert not every.allows("anything.example", 22)
