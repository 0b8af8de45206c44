"""Locks have every package by version and hash, fit their requirements, and are what is installed."""

import re
from pathlib import Path

import pytest

from annotation_app.operations.errors import OperationsError
from annotation_app.operations.install.requirement_locks import (
    ALL_LOCKS,
    DEVELOPMENT_LOCK,
    PACKAGE_PATTERN,
    RUN_LOCK,
    SOURCE_LINE_PATTERN,
    TRAINER_LOCK,
    UNHASHED_REQUIREMENTS,
    RequirementLock,
    render_lock,
)
from annotation_app.operations.runtime.stack import ROOT
from vm_bridge.images.tools import REQUIREMENTS as TOOLS
from vm_bridge.python_packages import locked_install

REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^\s;#]+)", re.MULTILINE)
HASH = "--hash=sha256:" + "0" * 64


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("lock", ALL_LOCKS, ids=lambda lock: str(lock.path.relative_to(ROOT)))
def test_a_lock_fits_its_requirements(lock: RequirementLock) -> None:
    assert lock.checked_path() == lock.path
    packages = {canonical(name): versions for name, versions in lock.packages().items()}
    for name, version in REQUIREMENT.findall(lock.source.read_text()):
        if not canonical(name).startswith(lock.left_out or ("\0",)):
            assert packages[canonical(name)] == {version}


@pytest.mark.parametrize("lock", ALL_LOCKS, ids=lambda lock: str(lock.path.relative_to(ROOT)))
def test_every_package_of_a_lock_has_hashes(lock: RequirementLock) -> None:
    blocks = [match[0] for match in PACKAGE_PATTERN.finditer(lock.path.read_text())]
    assert blocks
    assert [block for block in blocks if not re.search(r"--hash=sha256:[0-9a-f]{64}", block)] == []
    assert "://" not in lock.path.read_text()


def test_what_runs_is_what_was_tested() -> None:
    developed = DEVELOPMENT_LOCK.packages()
    assert {name: versions for name, versions in RUN_LOCK.packages().items() if not versions <= developed[name]} == {}


def test_the_trainers_lock_leaves_the_build_of_torch_alone() -> None:
    assert not [name for name in TRAINER_LOCK.packages() if name == "torch" or name.startswith("nvidia-")]
    assert "transformers" in TRAINER_LOCK.packages()


def test_every_file_of_requirements_is_locked_or_named_as_not() -> None:
    known = {lock.source for lock in ALL_LOCKS} | set(UNHASHED_REQUIREMENTS)
    found = set(ROOT.glob("requirements*.txt"))
    for folder in ("annotation_app", "benchmarks", "vm_bridge", "trainer", "tests"):
        found |= {path for path in (ROOT / folder).rglob("*requirements*.txt") if ".data" not in path.parts}
    assert found <= known
    assert all(path.exists() for path in known)


def test_the_tools_of_desktops_are_installed_from_their_lock() -> None:
    assert TOOLS in {lock.path for lock in ALL_LOCKS}


def test_the_images_install_from_the_locks() -> None:
    text = (ROOT / "docker/Dockerfile").read_text()
    installs = [line for line in text.splitlines() if "pip install" in line]
    assert len([line for line in installs if "--require-hashes --no-deps -r" in line]) == 3
    assert [line for line in installs if "--require-hashes" not in line and '"$torch"' not in line] == []


def test_a_stale_lock_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation_app.operations.install.requirement_locks.ROOT", tmp_path)
    more, source = tmp_path / "more.txt", tmp_path / "some.txt"
    more.write_text("httpx==0.28.1\n")
    source.write_text("-r more.txt\ndjango==5.2.19  # the web\n")
    lock = RequirementLock(source)
    with pytest.raises(OperationsError, match=r"some\.lock does not fit"):
        lock.checked_path()
    lock.path.write_text(f"django==5.2.19 \\\n    {HASH}\n")
    lock.path.write_text(render_lock(lock))
    assert lock.checked_path() == lock.path
    source.write_text("# A comment changes nothing.\n-r more.txt\n\ndjango==5.2.19\n")
    assert lock.checked_path() == lock.path
    more.write_text("httpx==0.28.2\n")
    with pytest.raises(OperationsError, match=r"some\.lock does not fit"):
        lock.checked_path()


def test_a_lock_is_read_package_by_package(tmp_path: Path) -> None:
    lock = RequirementLock(tmp_path / "some.txt", left_out=("torch", "nvidia-"))
    lock.source.write_text("networkx\n")
    lock.path.write_text(
        f"networkx==3.6.1 ; python_full_version < '3.12' \\\n    {HASH}\nnetworkx==3.7 \\\n    {HASH} \\\n    {HASH}\n"
        f"nvidia-nccl==2 \\\n    {HASH}\ntorch==2.13.0 \\\n    {HASH}\nuv==0.13.9 \\\n    {HASH}\n"
    )
    lock.path.write_text(render_lock(lock))
    assert SOURCE_LINE_PATTERN.search(lock.path.read_text())
    assert lock.packages() == {"networkx": {"3.6.1", "3.7"}, "uv": {"0.13.9"}}
    assert lock.block("uv") == f"uv==0.13.9 \\\n    {HASH}\n"
    with pytest.raises(KeyError):
        lock.block("torch")


def test_constraints_of_a_persons_settings_do_not_reach_locked_installs(tmp_path: Path) -> None:
    command = locked_install(tmp_path / "python", tmp_path / "some.lock")
    assert command.words[-4:] == ("--require-hashes", "--no-deps", "--requirement", str(tmp_path / "some.lock"))
    assert (command.environment["UV_CONSTRAINT"], command.environment["PIP_CONSTRAINT"]) == ("", "")
