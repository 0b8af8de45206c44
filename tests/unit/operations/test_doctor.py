"""The doctor names what is missing and what to do, and fails only where the demo would not start."""

import io
import socket
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from annotation_app.operations import doctor
from annotation_app.operations.__main__ import main
from annotation_app.operations.console import Console
from annotation_app.operations.doctor import Finding, run_doctor


def report(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *findings: Finding) -> tuple[int, str]:
    stream = io.StringIO()
    monkeypatch.setattr(doctor, "CHECKS", (lambda data: iter(findings),))
    return run_doctor(tmp_path, Console(stream)), stream.getvalue()


def test_it_runs_here_without_changing_anything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor", "--data", str(tmp_path / "new")])
    lines = capsys.readouterr().out
    for subject in ("Python", "System packages", "Namespaces", "Ports", "Disk", "Memory", "Clock", "GPU"):
        assert f" {subject}: " in lines
    assert list(tmp_path.iterdir()) == []


def test_only_what_keeps_the_demo_from_starting_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    warned = Finding("Clock", "warn", "nothing keeps it right", "start chrony")
    assert report(monkeypatch, tmp_path, warned) == (
        0,
        "! Clock: nothing keeps it right\n    start chrony\n\n./pilothouse demo can start here. Warnings: 1.\n",
    )
    status, text = report(monkeypatch, tmp_path, warned, Finding("Disk", "bad", "0.1 GiB free"))
    assert status == 1
    assert "1 to fix before ./pilothouse demo. Warnings: 1." in text


def test_a_port_that_is_taken_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        monkeypatch.setattr(doctor, "_preferred_ports", lambda: {"web": port})
        (finding,) = doctor.check_ports(tmp_path)
    assert finding.state == "warn"
    assert finding.text.startswith(f"{port} (web) is taken by ")


def test_namespaces_that_cannot_be_made_are_explained(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    failed = subprocess.CompletedProcess((), 1, "", "bwrap: No permissions to create new namespace")
    monkeypatch.setattr("subprocess.run", lambda *words, **options: failed)
    (finding,) = doctor.check_namespaces(tmp_path)
    assert (finding.state, finding.text) == ("bad", "bwrap: No permissions to create new namespace")
    assert "unprivileged_userns_clone" in finding.hint


@pytest.mark.parametrize(("gib", "state"), [(0.5, "bad"), (2, "warn"), (50, "ok")])
def test_room_on_the_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, gib: float, state: str) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=int(gib * 2**30)))
    assert next(doctor.check_room(tmp_path / "not" / "there")).state == state
