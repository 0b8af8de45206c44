"""Files as people really sent them, and what each must become: imports, uploads of tasks, exports, sizes of pictures.

`python -m benchmarks.parts.given_cases.files FOLDER` prints an object with `true` for each case that holds, by its id.
Rows are imported into the database of the environment. `files.jsonl` has for each case its public source, what is
given, and what is expected: of a row its `actions` or the `code` it is refused with, of an upload its `tasks` or a
part of the `reason`. Bytes are written as Latin-1.
"""

import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import django

from benchmarks.parts.exports.hostile_rows import build_trajectory
from protocol.blobs import BlobRef
from protocol.dialects.coordinates import smart_resize
from protocol.dialects.dialect import ParsedReply, ScreenSize
from protocol.dialects.families import get_dialect
from protocol.formats.records import ExportOptions, Record
from protocol.formats.registry import get_format
from protocol.trajectory.trajectories import Trajectory

CASES = Path(__file__).with_name("files.jsonl")
PEERS_CASE = "Z1"
"""30,000 sizes against published code, which runs in an environment of its own."""
WIDTH, HEIGHT = 1920, 1080
DIALECT = get_dialect("ui_tars_1_5")
PLACEHOLDERS = re.compile("<image>|<video>|<audio>")
CHAT_TOKEN = re.compile(r"<\|\w+\|>")
Case = Mapping[str, Any]


def read_cases() -> list[Case]:
    """Every case, in order."""
    return [json.loads(line, object_hook=_expand) for line in CASES.read_text().splitlines()]


def check_cases(folder: Path) -> dict[str, bool]:
    """Whether each case holds, but for those that need published code; rows are imported from this folder."""
    cases = [case for case in read_cases() if case["id"] != PEERS_CASE]
    imported = check_imports([case for case in cases if "row" in case], folder)
    checks: dict[str, Callable[[Case, Path], bool]] = {
        "task": check_upload,
        "export": check_export,
        "resize": check_resize,
    }
    others = [case for case in cases if "row" not in case]
    return imported | {case["id"]: checks[case["area"].split()[0]](case, folder) for case in others}


def check_imports(cases: list[Case], folder: Path) -> dict[str, bool]:
    """Import every row in one job, among pictures of one screen; what became of each."""
    from annotation_app.episodes.models import Episode
    from annotation_app.imports.services import import_folder_run

    folder.mkdir(parents=True)
    (folder / "a.jpg").write_bytes(_picture())
    (folder / "rows.jsonl").write_text("".join(f"{json.dumps(case['row'])}\n" for case in cases))
    job = import_folder_run(folder=folder, pool="given cases")
    refused = dict(job.refusals.values_list("line", "code"))

    def holds(line: int, case: Case) -> bool:
        if "code" in case:
            return bool(refused.get(line) == case["code"])
        episode = Episode.objects.filter(task__pool=job.pool, task__key=case["id"]).first()
        if episode is None:
            return False
        actions = [step.document.action.model_dump(mode="json") for step in episode.steps.order_by("index")]
        expected = case["actions"]
        return len(actions) == len(expected) and all(map(_has_values, actions, expected))

    assert job.status == "done", job.error
    return {case["id"]: holds(line, case) for line, case in enumerate(cases, start=1)}


def check_upload(case: Case, _folder: Path) -> bool:
    """Read a file of tasks."""
    from annotation_app.pools.task_files import task_file_read

    upload = task_file_read(case["data"].encode("latin-1"), case["area"].split()[-1], "desktop")
    if "reason" in case:
        return not upload.tasks and any(case["reason"] in fault.reason for fault in upload.faults)
    return not upload.faults and [[task.instruction, task.seed] for task in upload.tasks] == case["tasks"]


def check_export(case: Case, folder: Path) -> bool:
    """Write two steps in the case's format, with its text in its place."""
    picture = BlobRef.of(_picture(), "image/jpeg")
    one = build_trajectory(case["trajectory"], case["text"], case["place"], [picture] * 3)
    records = [
        record
        for record in get_format(case["format"]).records(one, ExportOptions(DIALECT))
        if isinstance(record, Record)
    ]
    checks: dict[str, Callable[[], bool]] = {
        "llama_factory_sft": lambda: _is_plain_text(records, one),
        "webdataset": lambda: all(
            {path.split(".", 1)[0] for path in record.files} == {record.key} for record in records
        ),
        "verl_sft": lambda: _pictures_are_bytes(case["format"], records, folder),
    }
    return len(records) == len(one.steps) and checks[case["format"]]()


def check_resize(case: Case, _folder: Path) -> bool:
    """A size that published code scales to nothing."""
    width, height, patches = map(int, re.findall(r"\d+", case["input"].removesuffix("*784")))
    return 0 not in smart_resize(height, width, max_pixels=patches * 784)


def _is_plain_text(records: list[Record], trajectory: Trajectory) -> bool:
    """A placeholder for each picture and none besides, no chat token, and acts that read back as they were done."""
    for record, step in zip(records, trajectory.steps, strict=True):
        row = json.loads(record.lines["rows.jsonl"])
        turns = [turn["value"] for turn in row["conversations"]]
        if PLACEHOLDERS.findall("".join(turns)) != ["<image>"] * len(row["images"]) or CHAT_TOKEN.search(
            "".join(turns)
        ):
            return False
        read = DIALECT.parse(turns[-1], ScreenSize.of(step.before))
        if not isinstance(read, ParsedReply) or read.action != step.action:
            return False
    return True


def _pictures_are_bytes(name: str, records: list[Record], folder: Path) -> bool:
    """Whether a table holds each picture's bytes."""
    from pyarrow.parquet import read_table

    from annotation_app.blobs.services import blob_write
    from annotation_app.exports.part_writers import PART_WRITERS

    data, folder = _picture(), folder / name
    folder.mkdir()
    blob_write(ref=BlobRef.of(data, "image/jpeg"), data=data)
    with PART_WRITERS["table"](folder, get_format(name), "train", 0, 1) as writer:
        for record in records:
            writer.add(record)
        writer.close()
    shown = [image["bytes"] for row in read_table(folder / "data").column("images").to_pylist() for image in row]
    return bool(shown) and set(shown) == {data}


def _picture() -> bytes:
    import simplejpeg
    from numpy import full, uint8

    return bytes(simplejpeg.encode_jpeg(full((HEIGHT, WIDTH, 3), 200, dtype=uint8), quality=50))


def _has_values(value: Any, expected: Any) -> bool:
    """Whether a value has these fields with these values, whatever it has besides."""
    if isinstance(expected, dict):
        return isinstance(value, dict) and all(_has_values(value.get(name), each) for name, each in expected.items())
    return bool(value == expected)


def _expand(value: dict[str, Any]) -> Any:
    return value["repeat"] * value["times"] if value.keys() == {"repeat", "times"} else value


def main() -> None:
    django.setup()
    print(json.dumps(check_cases(Path(sys.argv[1]))))


if __name__ == "__main__":
    main()
