"""Several actions of one reply, written by the formats that say so and read back."""

import json
from typing import Any

from protocol.actions.types import Click, TypeText
from protocol.dialects.families import get_dialect
from protocol.formats import atif, atif_reader, huggingface, osworld
from protocol.formats.records import ExportFormat, ExportOptions, Record
from protocol.formats.row_readers import SourceRow
from protocol.trajectory.steps import BatchPosition
from protocol.trajectory.trajectories import Trajectory
from tests.unit.protocol.examples import at, proposal, step, trajectory

CLICK, TYPED = Click(x=1, y=1), TypeText(text="a")
SIZE = 3


def done(index: int, **fields: Any) -> Any:
    place = BatchPosition(index=index + 1, size=SIZE)
    unseen = {"before": step(0, CLICK).before.model_copy(update={"screenshot": None}), "after": None}
    return step(index, CLICK, decision="auto", proposal_id="p1", batch=place, **unseen, **fields)


WHOLE: Trajectory = trajectory(
    steps=(done(0), done(1, thought="", not_done=(TYPED,))),
    proposals=((proposal(1, CLICK, further_actions=(CLICK, TYPED)),), ()),
)


def written(export: ExportFormat) -> list[Any]:
    exported = export.records(WHOLE, ExportOptions(get_dialect("json_calls")))
    records = [each for each in exported if isinstance(each, Record)]
    lines = [line for record in records for text in record.lines.values() for line in text.splitlines()]
    files = [data for record in records for path, data in record.files.items() if path.endswith("traj.jsonl")]
    return [
        *(record.row for record in records if record.row),
        *map(json.loads, lines),
        *(json.loads(line) for data in files if isinstance(data, bytes) for line in data.splitlines()),
    ]


def test_atif_is_read_back_with_places_and_what_was_not_done() -> None:
    (row,) = written(atif.FORMAT)
    read = atif_reader.read(SourceRow(row=row, find=lambda path: NotImplemented, moment=at(0), key="k"))
    assert [one.batch for one in read.steps] == [one.batch for one in WHOLE.steps]
    assert [one.not_done for one in read.steps] == [(), (TYPED,)]
    assert {one.proposal_id for one in read.steps} == {"p1"}
    assert read.proposals[0][0].actions == (CLICK, CLICK, TYPED)


def test_result_folders_and_tables_say_so_too() -> None:
    places = [{"index": 1, "size": SIZE}, {"index": 2, "size": SIZE}]
    assert [row["info"]["batch"] for row in written(osworld.FORMAT)] == places
    assert [json.loads(row["batch"])["batch"] for row in written(huggingface.FORMAT)] == places
