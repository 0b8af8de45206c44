"""Leases on disk: a change costs one line, and what was written before a failure can be read."""

from pathlib import Path

import pytest

from vm_bridge.leases import lease_file
from vm_bridge.leases.inventory import LeaseRecord, MachineDescription
from vm_bridge.leases.lease_file import LeaseFile


def record(token: int) -> LeaseRecord:
    return LeaseRecord(token, "r", "ada", "", "", "s")


def describe(machine_id: str) -> MachineDescription:
    return MachineDescription(machine_id, "desktop", "", f'{{"of": "{machine_id[0]}"}}')


def tokens(path: Path) -> dict[str, int]:
    """What the next bridge finds: the token of each machine's lease."""
    return {machine_id: lease.token for machine_id, (_, lease) in LeaseFile(path).read().items()}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "leases.json"


def test_a_change_appends_its_own_line(path: Path) -> None:
    file = LeaseFile(path)
    file.write({f"a{number}": record(number) for number in range(500)}, describe)
    before = path.read_bytes()
    file.add({"a7": record(1007), "a500": record(500)}, describe)
    file.add({"a7": record(1007)}, describe)
    after = path.read_bytes()
    assert after.startswith(before)
    assert after[len(before) :].count(b"\n") == 2
    expected = {f"a{number}": number for number in range(501)} | {"a7": 1007}
    assert tokens(path) == expected
    del expected["a3"]
    file.write({machine_id: record(token) for machine_id, token in expected.items()}, describe)
    assert path.read_bytes().startswith(after)
    assert tokens(path) == expected


def test_many_changes_are_written_as_one_state(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease_file, "MIN_CHANGES", 3)
    file = LeaseFile(path)
    file.write({}, describe)
    for token in range(1, 8):
        file.add({"a": record(token)}, describe)
        assert tokens(path) == {"a": token}
        assert path.read_bytes().count(b"\n") <= 4


def test_a_kind_of_machine_that_was_not_there_is_described(path: Path) -> None:
    file = LeaseFile(path)
    file.write({"a": record(1)}, describe)
    file.add({"b": record(2)}, describe)
    read = LeaseFile(path).read()
    assert read["b"][0].capabilities == '{"of": "b"}'
    assert tokens(path) == {"a": 1, "b": 2}


def test_half_a_line_ends_what_can_be_read(path: Path) -> None:
    file = LeaseFile(path)
    file.write({"a": record(1)}, describe)
    file.add({"a": record(2)}, describe)
    whole = path.read_bytes()
    file.add({"a": record(3)}, describe)
    longer = path.read_bytes()
    for length in range(len(whole) + 1, len(longer) - 1):
        path.write_bytes(longer[:length])
        assert tokens(path) == {"a": 2}


def test_after_a_failure_all_is_written(path: Path) -> None:
    file = LeaseFile(path)
    file.write({"a1": record(1)}, describe)
    path.unlink()  # as a full disk, a line cannot be appended
    file.add({"a2": record(2)}, describe)
    assert not file.complete
    file.add({"a3": record(3)}, describe)
    assert tokens(path) == {}
    file.write({"a1": record(1), "a3": record(3)}, describe)
    assert file.complete
    assert tokens(path) == {"a1": 1, "a3": 3}


def test_a_file_of_an_earlier_version_is_read(path: Path) -> None:
    file = LeaseFile(path)
    file.write({"a": record(1)}, describe)
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert tokens(path) == {"a": 1}


def test_a_machine_that_cannot_be_described_changes_nothing(path: Path) -> None:
    def fail(machine_id: str) -> MachineDescription:
        raise KeyError(machine_id)

    file = LeaseFile(path)
    with pytest.raises(KeyError):
        file.write({"a1": record(1)}, fail)
    assert not file.complete
    file.write({"a1": record(1)}, describe)
    for change in (file.write, file.add):
        with pytest.raises(KeyError):
            change({"b2": record(2)}, fail)
    file.add({"a3": record(3)}, describe)
    assert tokens(path) == {"a1": 1, "a3": 3}
    file.write({"a1": record(1), "b2": record(2), "a3": record(3)}, describe)
    assert tokens(path) == {"a1": 1, "b2": 2, "a3": 3}


@pytest.mark.parametrize("place", ["7", "-1", "x"])
def test_an_entry_without_its_capabilities_loses_no_other(path: Path, place: str) -> None:
    file = LeaseFile(path)
    file.write({"a1": record(1), "b2": record(2)}, describe)
    path.write_text(path.read_text().replace('"","1"]', f'"","{place}"]'))
    assert tokens(path) == {"a1": 1}
