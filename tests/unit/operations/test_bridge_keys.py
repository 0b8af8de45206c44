"""`./pilothouse bridge-keys` prints what a bridge reads as PILOTHOUSE_BRIDGE_KEYS."""

import json
from pathlib import Path

import pytest

from annotation_app.operations.bridge_keys import bridge_keys
from annotation_app.operations.errors import OperationsError
from vm_bridge.config import read_config
from vm_bridge.host_keys import MANAGER, derive_key

MASTER = "m" * 40


def test_a_bridge_starts_with_the_line(tmp_path: Path) -> None:
    line = bridge_keys(["h1"], manager=True, ray=True, data=tmp_path, environment={"PILOTHOUSE_SECRET": MASTER})
    name, _, value = line.partition("=")
    config = read_config({name: value, "PILOTHOUSE_HOST_ID": "h1"})
    assert config.host_keys == (derive_key(MASTER, "h1"),)
    assert config.keys_of(MANAGER) == (derive_key(MASTER, MANAGER),)
    assert MASTER not in line


def test_the_master_key_is_that_of_an_installation_where_the_environment_has_none(tmp_path: Path) -> None:
    (tmp_path / "secrets.json").write_text(json.dumps({"bridge": MASTER}))
    line = bridge_keys(["h1"], manager=False, ray=False, data=tmp_path, environment={})
    assert line == f"PILOTHOUSE_BRIDGE_KEYS=h1={derive_key(MASTER, 'h1')}"


@pytest.mark.parametrize(
    ("hosts", "environment", "message"),
    [
        (["Not a host"], {"PILOTHOUSE_BRIDGE_MASTER_KEY": MASTER}, "is no id of a host"),
        ([], {"PILOTHOUSE_BRIDGE_MASTER_KEY": MASTER}, "Whose keys"),
        (["h1"], {}, "no master key"),
        (["h1"], {"PILOTHOUSE_BRIDGE_MASTER_KEY": "short"}, "at least 32 characters"),
    ],
)
def test_what_cannot_be_printed_is_told(
    tmp_path: Path, hosts: list[str], environment: dict[str, str], message: str
) -> None:
    with pytest.raises(OperationsError, match=message):
        bridge_keys(hosts, manager=False, ray=False, data=tmp_path, environment=environment)
