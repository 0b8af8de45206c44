"""Every kind of machine with a network gets the networks of the lab."""

from pathlib import Path
from typing import Any

import pytest

from tests.unit.vm_bridge.test_config import SECRET
from vm_bridge import host_service
from vm_bridge.config import read_config


def test_every_host_with_a_network_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: dict[str, Any] = {}

    def record(name: str) -> Any:
        def make(*_: Any, make_egress: Any = None, **__: Any) -> object:
            told[name] = make_egress
            return object()

        return make

    names = ("LocalHost", "BrowserHost", "QemuHost", "DockerHost")
    for name in names:
        monkeypatch.setattr(host_service, name, record(name))
    monkeypatch.setattr(host_service, "PhoneHost", lambda *_: object())
    monkeypatch.setattr(host_service, "CompositeHost", lambda hosts: hosts)
    given = {"PILOTHOUSE_LAB_NETWORKS": "10.20.0.0/16", "PILOTHOUSE_QEMU": "true", "PILOTHOUSE_DOCKER": "true"}
    host_service.create_host(read_config({**SECRET, **given, "PILOTHOUSE_DATA": str(tmp_path)}))
    assert set(told) == set(names)
    for make_egress in told.values():
        public = make_egress.keywords["public"]
        assert [public(one) for one in ("10.20.3.4", "10.21.3.4", "127.0.0.1")] == [True, False, False]
