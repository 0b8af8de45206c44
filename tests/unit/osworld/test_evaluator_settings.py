"""What of OSWorld's task files an operator must provide for: told by its name, before anything is done."""

from pathlib import Path
from typing import Any

import pytest

from vm_bridge.drivers.osworld.task_files import TaskFile, validate_task_file
from vm_bridge.hosts.osworld.evaluator import GuestPorts
from vm_bridge.hosts.osworld.evaluator_settings import EvaluatorSettings, list_missing

PYTHON = Path("lib") / "venv" / "bin" / "python"


def file(*config: dict[str, Any], **evaluator: Any) -> TaskFile:
    steps = [{"type": each.pop("type"), "parameters": each} for each in config]
    return validate_task_file({"config": steps, "evaluator": {"func": "infeasible"} | evaluator})


@pytest.fixture
def evaluator_settings(tmp_path: Path) -> EvaluatorSettings:
    """An environment, one host, a password, a folder with one file and one account."""
    python = tmp_path / PYTHON
    for path in (python, tmp_path / "files/one.txt", tmp_path / "files/evaluation_examples/settings/drive.json"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return EvaluatorSettings(
        python, hosts=("files.example", "*.parts.example:8080"), password="secret", files=tmp_path / "files"
    )


ACCOUNT = "evaluation_examples/settings/drive.json"
ASKS = [
    (file({"type": "execute", "command": ["echo", "{CLIENT_PASSWORD}"]}), "password", "config: execute"),
    (file({"type": "login", "settings_file": ACCOUNT, "platform": "googledrive"}), "files", "config: login"),
    (file({"type": "upload_file", "files": [{"local_path": "one.txt", "path": "x"}]}), "files", "config: upload_file"),
    (file({"type": "download", "files": [{"url": "https://files.example/a", "path": "x"}]}), "hosts", "download fetch"),
    (
        file(
            func="compare_table",
            result={"type": "cloud_file", "path": ["http://a.parts.example:8080/b"], "multi": True, "dest": ["b"]},
        ),
        "hosts",
        "evaluator: cloud_file",
    ),
]


@pytest.mark.parametrize(("asked", "means_of", "named"), ASKS)
def test_what_is_given_is_enough_and_what_is_not_is_named(
    evaluator_settings: EvaluatorSettings, asked: TaskFile, means_of: str, named: str
) -> None:
    assert list(list_missing(asked, evaluator_settings)) == []
    without = {name: getattr(evaluator_settings, name) for name in ("hosts", "password", "files") if name != means_of}
    (told,) = list_missing(asked, EvaluatorSettings(evaluator_settings.python, **without))
    assert named in told
    assert f"PILOTHOUSE_OSWORLD_{means_of.upper()}" in told


@pytest.mark.parametrize("path", ["/etc/passwd", "../one.txt", "a/../../one.txt", ACCOUNT, "missing.txt", ""])
def test_no_file_beside_the_folder_and_no_account_is_brought_into_a_guest(
    evaluator_settings: EvaluatorSettings, path: str
) -> None:
    asked = file({"type": "upload_file", "files": [{"local_path": path, "path": "x"}]})
    assert "asks for the file" in next(list_missing(asked, evaluator_settings))


@pytest.mark.parametrize(
    "url",
    ["https://other.example/a", "https://files.example:8443/a", "file:///etc/passwd", "ftp://files.example/a", ""],
)
def test_nothing_is_fetched_from_where_it_is_not_allowed(evaluator_settings: EvaluatorSettings, url: str) -> None:
    asked = file({"type": "download", "files": [{"url": url, "path": "x"}]})
    assert "is not allowed" in next(list_missing(asked, evaluator_settings))


def test_a_link_out_of_the_folder_is_no_file_in_it(evaluator_settings: EvaluatorSettings) -> None:
    assert evaluator_settings.files is not None
    (evaluator_settings.files / "link").symlink_to("/etc/passwd")
    asked = file({"type": "upload_file", "files": [{"local_path": "link", "path": "x"}]})
    assert "asks for the file link" in next(list_missing(asked, evaluator_settings))


def test_without_the_package_nothing_is_taken_and_without_ocr_one_metric(evaluator_settings: EvaluatorSettings) -> None:
    assert "not installed" in next(list_missing(file(), EvaluatorSettings(Path("/nowhere"))))
    reads = file(func="compare_image_text", result={"type": "rule", "rules": {}})
    assert "compare_image_text" in next(list_missing(reads, evaluator_settings))
    (evaluator_settings.python.parent.parent / "lib/python3.11/site-packages/easyocr").mkdir(parents=True)
    assert list(list_missing(reads, evaluator_settings)) == []


def test_an_address_has_one_port_or_as_many_as_their_providers_write() -> None:
    assert GuestPorts.of("10.0.0.5:5000") == GuestPorts("10.0.0.5", 5000, 9222, 8080)
    assert GuestPorts.of("vm:5001:9223:8007:8081") == GuestPorts("vm", 5001, 9223, 8081)
    assert GuestPorts.of("[::1]:5000").server_address == "[::1]:5000"
    with pytest.raises(ValueError, match="no address"):
        GuestPorts.of("vm:5000:9222")
