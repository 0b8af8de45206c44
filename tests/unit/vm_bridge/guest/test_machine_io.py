"""What comes into a sandbox and goes out of it, and what is told of acts that fail."""

import base64
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from vm_bridge.guest.common.actions import ActionFailed
from vm_bridge.guest.common.machine_io import CHUNK
from vm_bridge.guest.linux.machine_io import LinuxMachineIO

MISSING = ("/no/such/helper",)


@pytest.fixture
def machine_io(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LinuxMachineIO:
    """One whose helpers are not installed."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return LinuxMachineIO(terminals=MISSING, toolbox=MISSING)


def stage_file(machine_io: LinuxMachineIO, data: bytes) -> str:
    name = sha256(data).hexdigest()
    for offset in range(0, max(1, len(data)), CHUNK):
        part = base64.b64encode(data[offset : offset + CHUNK]).decode()
        machine_io.call_handlers["put"]({"sha256": name, "offset": offset, "data": part})
    return name


def run_action(machine_io: LinuxMachineIO, **action: Any) -> dict[str, Any]:
    return machine_io.run_action(machine_io.action_handlers[action["kind"]], action)


def fetch(machine_io: LinuxMachineIO, key: int) -> bytes:
    """Part by part, as the host does it."""
    data = b""
    while True:
        part = base64.b64decode(machine_io.call_handlers["get"]({"key": key, "offset": len(data)})["data"])
        data += part
        if len(part) < CHUNK:
            return data


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK])
def test_files_of_any_size_cross_whole(machine_io: LinuxMachineIO, tmp_path: Path, size: int) -> None:
    data = bytes(size)
    name = stage_file(machine_io, data)
    answer = run_action(machine_io, kind="upload_file", path="a", blob={"sha256": name, "size": size})
    assert answer == {"text": f"{size} bytes", "error": None, "attachment": None}
    assert (tmp_path / "a").read_bytes() == data
    offered = run_action(machine_io, kind="download_file", path="a")["attachment"]
    assert fetch(machine_io, offered["key"]) == data
    with pytest.raises(ActionFailed) as failed:
        machine_io.call_handlers["get"]({"key": offered["key"], "offset": 0})
    assert failed.value.code == "not_kept", "what was fetched takes no memory"


def test_a_part_that_is_sent_again_does_no_harm(machine_io: LinuxMachineIO, tmp_path: Path) -> None:
    name = stage_file(machine_io, b"whole")
    stage_file(machine_io, b"whole")
    run_action(machine_io, kind="upload_file", path="a", blob={"sha256": name, "size": 5})
    assert (tmp_path / "a").read_bytes() == b"whole"
    again = run_action(machine_io, kind="upload_file", path="b", blob={"sha256": name, "size": 5})
    assert again["error"]["code"] == "not_staged"


def test_only_a_few_files_wait(machine_io: LinuxMachineIO) -> None:
    first = stage_file(machine_io, b"first")
    for number in range(3):
        stage_file(machine_io, bytes([number]))
    answer = run_action(machine_io, kind="upload_file", path="a", blob={"sha256": first, "size": 5})
    assert answer["error"]["code"] == "not_staged"


def test_helpers_that_are_not_installed_fail_the_act_alone(machine_io: LinuxMachineIO) -> None:
    code = run_action(machine_io, kind="run_code", code="1", timeout=1)
    assert code["error"]["code"] == "not_installed"
    typed = run_action(machine_io, kind="type_terminal", session="main", text="")
    assert typed["error"]["code"] == "not_installed"
    assert "not_installed" not in machine_io.terminal()
    assert machine_io.terminal().startswith("[")
    assert machine_io.call_handlers["terminals.list"]({}) == {"terminals": []}


def test_tools_are_asked_for_only_where_there_are_servers(machine_io: LinuxMachineIO) -> None:
    assert machine_io.call_handlers["tools.list"]({}) == {"tools": [], "failures": {}}
    machine_io.call_handlers["tools.configure"]({"servers": {"a": {"command": "x"}}})
    with pytest.raises(ActionFailed) as failed:
        machine_io.call_handlers["tools.list"]({})
    assert failed.value.code == "not_installed"
