"""The decision records of `docs/adr`, and the map from former record numbers to current headings."""

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

INDEX, MAP = "index.md", "map.toml"
MOST_RECORDS = 40
MOST_NUMBERS_OF_A_HEADING = 25
LAST_NUMBER = 710
"""The highest former record number. New decisions have none."""
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_DECISION = re.compile(r"^## (.+)$", re.MULTILINE)


@dataclass(frozen=True, order=True, slots=True)
class FormerRecord:
    """A record that used to be a file: its former number and title, and the file and anchor of its heading now."""

    number: int
    title: str
    file: str
    anchor: str


@dataclass(frozen=True, slots=True)
class RecordMap:
    """The former records by number, and the numbers that were never used."""

    records: tuple[FormerRecord, ...]
    never_used: frozenset[int]


def anchor_of(heading: str) -> str:
    """The anchor of a heading, as on GitHub and the documentation site."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def decisions_in(record: str) -> tuple[str, ...]:
    """The anchors of a record's decisions in order: its second-level headings."""
    return tuple(anchor_of(heading) for heading in _DECISION.findall(_FENCED.sub("", record)))


def read_map(source: str) -> RecordMap:
    """Parse `map.toml`. Raises TOMLDecodeError, KeyError, TypeError or ValueError if it is malformed."""
    data = tomllib.loads(source)
    records = (
        FormerRecord(int(number), entry["title"], *entry["at"].split("#", maxsplit=1))
        for number, entry in data["records"].items()
    )
    never_used = frozenset(number for first, last in data["never_used"] for number in range(first, last + 1))
    return RecordMap(tuple(sorted(records)), never_used)


def record_faults(records: Mapping[str, str], former: RecordMap) -> list[str]:
    """Descriptions of the faults in the records and the map; empty without any.

    Args:
        records: the text of each record by its file's name, without the index.
        former: the result of `read_map`.
    """
    anchors = {name: decisions_in(text) for name, text in records.items()}
    faults = [f"{name} has no decision" for name, there in anchors.items() if not there]
    faults += [
        f"{name} has {count} headings #{anchor}"
        for name, there in anchors.items()
        for anchor, count in Counter(there).items()
        if count > 1
    ]
    if len(records) > MOST_RECORDS:
        faults.append(f"{len(records)} records are more than {MOST_RECORDS}")
    return faults + _map_faults(anchors, former)


def _map_faults(anchors: Mapping[str, tuple[str, ...]], former: RecordMap) -> list[str]:
    known = Counter(record.number for record in former.records) + Counter(former.never_used)
    numbers = sorted(known.keys() | set(range(1, LAST_NUMBER + 1)))
    numbers_at = Counter((record.file, record.anchor) for record in former.records)
    return [
        *(f"{number} is in the map {known[number]} times" for number in numbers if known[number] != 1),
        *(
            f"{record.number} is at {record.file}#{record.anchor}, which does not exist"
            for record in former.records
            if record.anchor not in anchors.get(record.file, ())
        ),
        *(
            f"{file}#{anchor} stands for {count} records"
            for (file, anchor), count in numbers_at.items()
            if count > MOST_NUMBERS_OF_A_HEADING
        ),
    ]
