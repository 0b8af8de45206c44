"""Rows with faults in any place: each comes in, or is told with its line and reason; what came in can go out again."""

import json
from pathlib import Path

from annotation_app.imports.services import import_folder_run
from benchmarks.parts.fuzzing.imports import corrupt_rows
from tests.integration.web.conftest import World
from tests.integration.web.exports.test_export_formats import attempt
from tests.integration.web.imports.import_helpers import write

COUNT = 240


def test_no_row_stops_an_import_and_every_bad_one_is_told(committed: World, tmp_path: Path) -> None:
    committed.pool.tasks.all().delete()
    attempt(committed.ada, 1, committed.pool)
    rows = []
    for name in ("canonical", "atif", "agentnet"):
        (lines,) = (
            path for path in write(tmp_path / name, name).glob("*.jsonl") if path.stem in (name, "trajectories")
        )
        rows += [json.loads(line) for line in lines.read_bytes().splitlines()]
    source = tmp_path / "agentnet"
    (source / "agentnet.jsonl").write_bytes(b"".join(corrupt_rows(rows, seed=30, count=COUNT)))
    job = import_folder_run(folder=source, pool="spoiled")
    assert (job.status, job.imported + job.known + job.refused, job.line) == ("done", COUNT, COUNT)
    assert COUNT * 0.1 < job.imported < COUNT * 0.6, "good rows and bad ones"
    told = list(job.refusals.values_list("line", "code", "message"))
    assert len(told) == job.refused
    assert len({line for line, *_ in told}) == job.refused, "each is told once"
    assert all(code and message.strip() for _, code, message in told)
    write(tmp_path / "again")
