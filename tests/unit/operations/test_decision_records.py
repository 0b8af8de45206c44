"""Every decision record of before is found under its former number, in at most forty topical records."""

import re
from pathlib import Path

import pytest

from annotation_app.operations.decision_records import (
    INDEX,
    LAST_NUMBER,
    MAP,
    FormerRecord,
    RecordMap,
    decisions_in,
    read_map,
    record_faults,
)
from annotation_app.operations.runtime.stack import ROOT

FOLDER = ROOT / "docs" / "adr"
ONE = FormerRecord(1, "The pool is one", "pools.md", "one-pool")


def the_records(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.glob("*.md") if path.name != INDEX}


def test_every_former_record_has_its_heading() -> None:
    assert record_faults(the_records(FOLDER), read_map((FOLDER / MAP).read_text())) == []


def test_the_index_names_every_record_once() -> None:
    listed = re.findall(r"^\* \[[^\]]+\]\(([\w-]+\.md)\)", (FOLDER / INDEX).read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(the_records(FOLDER))


def a_map(*records: FormerRecord) -> RecordMap:
    used = {record.number for record in records}
    return RecordMap(records, frozenset(range(1, LAST_NUMBER + 1)) - used)


def test_decisions_are_the_headings_of_the_second_level() -> None:
    record = "# Pools\n\n## `One` pool, not two\n\n```\n## no heading\n```\n\n### Detail\n\n## Another one\n"
    assert decisions_in(record) == ("one-pool-not-two", "another-one")


def test_a_map_is_read() -> None:
    source = 'never_used = [[2, 3]]\n[records]\n001 = { title = "The pool is one", at = "pools.md#one-pool" }\n'
    assert read_map(source) == RecordMap((ONE,), frozenset({2, 3}))


def test_records_without_faults_have_none() -> None:
    assert record_faults({"pools.md": "# Pools\n\n## One pool\n"}, a_map(ONE)) == []


@pytest.mark.parametrize(
    ("records", "former", "fault"),
    [
        ({"pools.md": "# Pools\n\n## Two pools\n"}, a_map(ONE), "1 is at pools.md#one-pool, which does not exist"),
        ({"pools.md": "# Pools\n"}, a_map(), "pools.md has no decision"),
        ({"pools.md": "## One pool\n\n## One pool\n"}, a_map(), "pools.md has 2 headings #one-pool"),
        ({f"{n}.md": "## One pool\n" for n in range(41)}, a_map(), "41 records are more than 40"),
        ({}, RecordMap((), frozenset(range(2, LAST_NUMBER + 1))), "1 is in the map 0 times"),
        (
            {"pools.md": "## One pool\n"},
            RecordMap((ONE,), frozenset(range(1, LAST_NUMBER + 1))),
            "1 is in the map 2 times",
        ),
        (
            {"pools.md": "## One pool\n"},
            a_map(*(FormerRecord(n, "", "pools.md", "one-pool") for n in range(1, 27))),
            "pools.md#one-pool stands for 26 records",
        ),
    ],
)
def test_faults_are_told(records: dict[str, str], former: RecordMap, fault: str) -> None:
    assert record_faults(records, former) == [fault]
