"""What comes into a sandbox and goes out of it, and what is told of acts that fail."""

import base64
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from vm_bridge.guest.act import ActFailed
from vm_bridge.guest.holdings import CHUNK
from vm_bridge.guest.inside import Inside

MISSING = ("/no/such/helper",)


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Inside:
    """One whose helpers are not installed."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return Inside(terminals=MISSING, toolbox=MISSING)


def put(inside: Inside, data: bytes) -> str:
    name = sha256(data).hexdigest()
    for offset in range(0, max(1, len(data)), CHUNK):
        part = base64.b64encode(data[offset : offset + CHUNK]).decode()
        inside.calls["put"]({"sha256": name, "offset": offset, "data": part})
    return name


def attempt(inside: Inside, **action: Any) -> dict[str, Any]:
    return inside.attempt(inside.acts[action["kind"]], action)


def fetched(inside: Inside, key: int) -> bytes:
    """Part by part, as the host does it."""
    data = b""
    while True:
        part = base64.b64decode(inside.calls["get"]({"key": key, "offset": len(data)})["data"])
        data += part
        if len(part) < CHUNK:
            return data


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK])
def test_files_of_any_size_cross_whole(inside: Inside, tmp_path: Path, size: int) -> None:
    data = bytes(size)
    name = put(inside, data)
    answer = attempt(inside, kind="upload_file", path="a", blob={"sha256": name, "size": size})
    assert answer == {"text": f"{size} bytes", "error": None, "attachment": None}
    assert (tmp_path / "a").read_bytes() == data
    offered = attempt(inside, kind="download_file", path="a")["attachment"]
    assert fetched(inside, offered["key"]) == data
    with pytest.raises(ActFailed) as failed:
        inside.calls["get"]({"key": offered["key"], "offset": 0})
    assert failed.value.code == "not_kept", "what was fetched takes no memory"


def test_a_part_that_is_sent_again_does_no_harm(inside: Inside, tmp_path: Path) -> None:
    name = put(inside, b"whole")
    put(inside, b"whole")
    attempt(inside, kind="upload_file", path="a", blob={"sha256": name, "size": 5})
    assert (tmp_path / "a").read_bytes() == b"whole"
    again = attempt(inside, kind="upload_file", path="b", blob={"sha256": name, "size": 5})
    assert again["error"]["code"] == "not_staged"


def test_only_a_few_files_wait(inside: Inside) -> None:
    first = put(inside, b"first")
    for number in range(3):
        put(inside, bytes([number]))
    answer = attempt(inside, kind="upload_file", path="a", blob={"sha256": first, "size": 5})
    assert answer["error"]["code"] == "not_staged"


def test_helpers_that_are_not_installed_fail_the_act_alone(inside: Inside) -> None:
    code = attempt(inside, kind="run_code", code="1", timeout=1)
    assert code["error"]["code"] == "not_installed"
    typed = attempt(inside, kind="type_terminal", session="main", text="")
    assert typed["error"]["code"] == "not_installed"
    assert "not_installed" not in inside.terminal()
    assert inside.terminal().startswith("[")
    assert inside.calls["terminals.list"]({}) == {"terminals": []}


def test_tools_are_asked_for_only_where_there_are_servers(inside: Inside) -> None:
    assert inside.calls["tools.list"]({}) == {"tools": [], "failures": {}}
    inside.calls["tools.configure"]({"servers": {"a": {"command": "x"}}})
    with pytest.raises(ActFailed) as failed:
        inside.calls["tools.list"]({})
    assert failed.value.code == "not_installed"
