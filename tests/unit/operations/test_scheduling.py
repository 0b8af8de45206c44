"""Which tests share a worker, in what order, and which run only with `--all`."""

import pytest

from annotation_app.operations.runtime.stack import ROOT
from tests.scheduling import (
    MOVED_TESTS,
    SHARED,
    TRIED_AGAIN,
    UNKNOWN_SECONDS,
    group_of,
    group_seconds,
    has_second_try,
    reason_to_move,
)


@pytest.mark.parametrize(
    ("test", "group"),
    [
        (
            "tests/unit/vm_bridge/network/test_preview_mount.py::test_a[1]",
            "tests/unit/vm_bridge/network/test_preview_mount.py",
        ),
        ("tests/e2e/test_review.py::test_a", "platform"),
        ("tests/e2e/test_phone.py::test_a", "platform of machines"),
        ("tests/integration/servers/test_lora.py::test_a", "model servers"),
        ("tests/contract/test_machine.py::test_a[placed]", "Ray cluster"),
        ("tests/contract/test_machine.py::test_a[fake]", "tests/contract/test_machine.py"),
    ],
)
def test_a_test_is_in_the_group_of_what_it_shares(test: str, group: str) -> None:
    assert group_of(test) == group


def test_groups_that_were_never_measured_are_taken_for_long_ones() -> None:
    tests = ["tests/unit/test_a.py::test_one", "tests/e2e/test_review.py::test_two"]
    assert group_seconds(tests, {"platform": 400.0}) == {"platform": 400.0, "tests/unit/test_a.py": UNKNOWN_SECONDS}


def test_what_is_moved_is_there_and_says_why() -> None:
    for one in MOVED_TESTS:
        assert (ROOT / one["tests"].partition("::")[0]).exists()
        assert one["reason"]
        assert reason_to_move(f"{one['tests']}::test_a{one.get('parameter', '')}") == one["reason"]
    assert reason_to_move("tests/contract/test_machine.py::test_a[fake]") is None
    assert reason_to_move("tests/unit/vm_bridge/network/test_preview_mount.py::test_a") is None


def test_only_what_waits_for_machines_has_a_second_try() -> None:
    for one in TRIED_AGAIN:
        assert (ROOT / one["tests"].partition("::")[0]).exists()
        assert one["reason"]
        assert has_second_try(f"{one['tests']}test_a.py::test_one")
    for kind in ("unit", "integration/web", "integration/gym", "integration/machine_io"):
        assert not has_second_try(f"tests/{kind}/test_a.py::test_one")


def test_shared_groups_name_files_that_are_there() -> None:
    for part, _ in SHARED:
        if part.startswith("tests/"):
            assert (ROOT / part).exists()
