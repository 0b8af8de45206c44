"""What a sandbox's machine does with a request: commands and files, whose paths begin at the home folder."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from agent_backend.environments.sandbox_runner import NO_SUCH_COMMAND, main

EXECUTE: dict[str, Any] = {"kind": "execute", "stdin_path": None, "cwd": None, "env": {}, "max_output_bytes": 1_000}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    return home


def run(folder: Path, request: dict[str, Any], data: bytes | None = None) -> dict[str, Any]:
    job = folder / "job"
    job.mkdir(exist_ok=True)
    (job / "request.json").write_text(json.dumps(request))
    (job / "data").unlink(missing_ok=True)
    if data is not None:
        (job / "data").write_bytes(data)
    return main(job)


def output(reply: dict[str, Any], name: str = "stdout") -> bytes:
    return base64.b64decode(reply[name]["data"])


@pytest.mark.parametrize(("data", "expected"), [(b"typed", b"typed"), (None, b"")])
def test_standard_input_is_the_data_beside_the_request(tmp_path: Path, data: bytes | None, expected: bytes) -> None:
    assert output(run(tmp_path, {**EXECUTE, "argv": ["cat"]}, data)) == expected


def test_standard_input_is_a_file_below_the_home_folder(tmp_path: Path, home: Path) -> None:
    (home / "input.txt").write_bytes(b"from a file")
    request = {**EXECUTE, "argv": ["cat"], "stdin_path": "input.txt"}
    assert output(run(tmp_path, request)) == b"from a file"
    assert run(tmp_path, {**request, "stdin_path": "absent.txt"})["errno"] == "ENOENT"


def test_a_command_has_its_folder_and_variables_and_a_cut_output(tmp_path: Path, home: Path) -> None:
    (home / "work").mkdir()
    request = {**EXECUTE, "argv": ["sh", "-c", "pwd; echo $WORD >&2; exit 3"], "cwd": "work", "env": {"WORD": "hello"}}
    reply = run(tmp_path, request)
    assert (reply["returncode"], output(reply)) == (3, f"{home}/work\n".encode())
    assert output(reply, "stderr") == b"hello\n"
    cut = run(tmp_path, {**EXECUTE, "argv": ["echo", "1234567"], "max_output_bytes": 4})
    assert (output(cut), cut["stdout"]["size"]) == (b"1234", 8)
    assert run(tmp_path, {**request, "cwd": "absent"})["errno"] == "ENOTDIR"
    assert run(tmp_path, {**EXECUTE, "argv": ["no-such-command"]})["returncode"] == NO_SUCH_COMMAND


def test_files_are_written_extended_and_read_in_parts(tmp_path: Path, home: Path) -> None:
    for data, append in ((b"abc", False), (b"def", True)):
        assert run(tmp_path, {"kind": "write", "path": "new/a.txt", "append": append}, data) == {}
    assert (home / "new" / "a.txt").read_bytes() == b"abcdef"
    part = run(tmp_path, {"kind": "read", "path": "new/a.txt", "offset": 2, "length": 3})
    assert (output(part, "content"), part["content"]["size"]) == (b"cde", 6)
    assert run(tmp_path, {"kind": "read", "path": "absent", "offset": 0, "length": 1})["errno"] == "ENOENT"
