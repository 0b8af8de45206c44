"""The folder of short-lived files."""

import os
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from vm_bridge.hosts.process_sandbox import STATE_FILE, ProcessSandboxState
from vm_bridge.hosts.runtime_folder import LOCK, PREFIX, RuntimeFolder


@pytest.fixture(autouse=True)
def own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_what_a_dead_host_left_is_removed_and_a_living_one_is_not(tmp_path: Path) -> None:
    living = RuntimeFolder(tmp_path / "one")
    dead = tmp_path / f"{PREFIX}{os.geteuid()}-dead-0"
    dead.mkdir()
    (dead / LOCK).touch()
    other = RuntimeFolder(tmp_path / "two")
    other.remove()
    assert list(tmp_path.iterdir()) == [living.path]
    living.remove()


def test_what_still_runs_is_left_for_the_host_it_belongs_to(tmp_path: Path) -> None:
    folder = RuntimeFolder(tmp_path / "one")
    os.close(folder._lock)  # as when that process is killed
    began = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    tree = folder.sandboxes / "desktop-1"
    tree.mkdir()
    state = ProcessSandboxState(pid=os.getpid(), began=began, groups=(), missing=())
    (tree / STATE_FILE).write_text(state.model_dump_json())
    RuntimeFolder(tmp_path / "two").remove()
    again = RuntimeFolder(tmp_path / "one")
    assert again.path == folder.path
    assert tree.is_dir()
    again.remove()


def test_two_hosts_over_one_data_folder_do_not_meet(tmp_path: Path) -> None:
    one, two = RuntimeFolder(tmp_path), RuntimeFolder(tmp_path)
    assert one.path != two.path
    one.remove()
    two.remove()


def test_hosts_that_begin_together_each_find_what_their_last_one_left(tmp_path: Path) -> None:
    names = [f"host-{number}" for number in range(16)]
    left = []
    for name in names:
        folder = RuntimeFolder(tmp_path / name)
        left.append(folder.path)
        os.close(folder._lock)  # as when that process is killed
    for path in left:  # made again: each of the others swept them
        (path / "machines").mkdir(parents=True, exist_ok=True)
        (path / LOCK).touch()
        for number in range(50):
            (path / "machines" / f"{number}").touch()
    together = threading.Barrier(len(names))

    def begin(name: str) -> RuntimeFolder:
        together.wait(30)
        return RuntimeFolder(tmp_path / name)

    with ThreadPoolExecutor(len(names)) as pool:
        begun = list(pool.map(begin, names))
    assert [folder.path for folder in begun] == left
    for folder in begun:
        folder.remove()


def test_others_may_pass_but_not_look(tmp_path: Path) -> None:
    folder = RuntimeFolder(tmp_path)
    assert folder.path.stat().st_mode & 0o777 == 0o711
    folder.remove()
    assert not folder.path.exists()


def test_an_image_is_taken_over_once(tmp_path: Path) -> None:
    prepared = tmp_path / "desktop-1"
    prepared.mkdir()
    (prepared / "file").write_text("first")
    folder = RuntimeFolder(tmp_path)
    copy = folder.image(prepared)
    (prepared / "later").write_text("second")
    assert [path.name for path in folder.image(prepared).iterdir()] == ["file"]
    assert (copy / "file").read_text() == "first"
    assert copy.parent.parent == folder.path
    folder.remove()
