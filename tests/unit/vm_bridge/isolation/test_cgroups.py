"""Control groups: what is written where, and what is said when it cannot be."""

from pathlib import Path

import pytest

from vm_bridge.isolation import cgroups

SMALL = cgroups.ResourceLimits(cores=1.5, memory=10, processes=20)


@pytest.fixture(autouse=True)
def own_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroups, "ROOT", tmp_path)


def written(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_separate_hierarchies(tmp_path: Path) -> None:
    for controller in ("cpu", "memory", "pids"):
        (tmp_path / controller).mkdir()
    (tmp_path / "pids" / "pilothouse").touch()  # nobody may make a group below it
    groups = cgroups.ControlGroups.create("one", SMALL)
    assert groups.missing == ("pids",)
    assert [written(path) for path in groups.paths] == [
        {"cpu.cfs_quota_us": "150000"},
        {"memory.limit_in_bytes": "10"},
    ]


def test_one_hierarchy(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").touch()
    groups = cgroups.ControlGroups.create("one", SMALL)
    (group,) = groups.paths
    assert written(group) == {"cpu.max": "150000 100000", "memory.max": "10", "pids.max": "20"}
    assert groups.missing == ()


def test_nothing_can_be_made(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").touch()
    (tmp_path / "pilothouse").touch()
    groups = cgroups.ControlGroups.create("one", SMALL)
    assert (groups.paths, groups.missing) == ((), ("cpu", "memory", "pids"))
