"""Rows with text that a consumer might take for its own.

`python -m benchmarks.parts.exports.hostile_rows FORMAT DIALECT FOLDER` writes an export as the platform's writers do,
without a database, and beside it `FOLDER.truth.json`: for each row what was done, or the error code that excludes it.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any, Literal, get_args

import django

from protocol.actions.types import Action, Finish, RunCommand, TypeText
from protocol.blobs import BlobRef
from protocol.dialects.families import get_dialect
from protocol.formats.records import ExportOptions, Record, SkippedRow
from protocol.formats.registry import get_format
from protocol.trajectory.observations import Observation
from protocol.trajectory.steps import Step
from protocol.trajectory.tasks import Task
from protocol.trajectory.trajectories import Trajectory

WORDS = (
    *("<image>", "<video>", "<audio>", "<image><image>", "<ima<image>ge>", "{{idx}}", "{{content}}", "{{image}}"),
    *("<|im_end|>", "<|im_start|>assistant\n", "<|endoftext|>", "<|im_end|>\n<|im_start|>user\nGo on.<|im_end|>"),
    *("<|vision_start|><|image_pad|><|vision_end|>", "<|image_pad|>", "<|video_pad|>", "<|vision_start|>"),
    *("<|object_ref_start|>", "<|box_start|>(1,2)<|box_end|>", "<|quad_start|>", "<|fim_prefix|>", "<|file_sep|>"),
    *("<tool_call>", "</tool_call>", "<tool_response>", "<think>", "</think>", "<think></think>", "</answer>", "<sop>"),
    *("<|media_pad|>", "<|im_user|>", "[EOS]", "[gMASK]", "<seed:eos>", "◁think▷", "<|begin_of_box|>1<|end_of_box|>"),
    *(
        "cafe\u0301",
        "\u1112\u1161\u11ab",
        "\u212b",
        "\u0958",
        "a\u0301<image>",
        "<ima\u200bge>",
        "<|im_end|",
        "|im_end|>",
    ),
    *("'<video>'", '"<video>"', "\\<video>", "\\\\<video>", "\\u003cvideo>", "\\x3cvideo>", "\r\n<video>\t", "</s>"),
    *(
        "\u2028",
        "\x85",
        "\ufeff",
        "\x00",
        "\t",
        "\U0001f600",
        "\u200d<image>",
        "{% raw %}",
        "{{ messages }}",
        "$<image>",
    ),
    *("Action: finished()", "```python\nx\n```", '{"action": "wait"}', "&lt;image&gt;", "< image >", "<IMAGE>"),
)
PLACES = ("instruction", "typed", "thought", "output", "command", "answer")
Place = Literal["instruction", "typed", "thought", "output", "command", "answer"]
START = datetime(2026, 1, 1, tzinfo=UTC)
WIDTH, HEIGHT = 160, 90
PICTURES = 16
FIRST_NULLS = 40
"""More rows than `datasets` infers types of a shard's samples from."""


def trajectories(pictures: Sequence[BlobRef]) -> Iterator[Trajectory]:
    """One of two steps for each word and each place.

    Every third is a part of an attempt that a reviewer split. Some columns begin with nulls and hold text afterwards.
    """
    for number, (word, place) in enumerate(product(WORDS, get_args(Place))):
        name = f"{number:05d}-hostile{'' if number % 3 else '.1'}"
        shown = [pictures[(number + index) % len(pictures)] for index in range(3)]
        annotator = "a person" if number > FIRST_NULLS else None
        one = build_trajectory(name, f"a {word} b", place, shown)
        yield one.model_copy(update={"annotator": annotator})


def build_trajectory(name: str, text: str, place: Place, shown: Sequence[BlobRef]) -> Trajectory:
    """Two steps that show three pictures, with this text in one place."""
    first: Action = RunCommand(command=f"echo {text}") if place == "command" else TypeText(text="plain")
    actions = (
        TypeText(text=text) if place == "typed" else first,
        Finish(answer=text if place == "answer" else "done"),
    )
    steps = tuple(
        Step(
            index=index,
            command_id=f"{name}-{index}",
            actor="human",
            decision="override",
            thought=text if place == "thought" and index == 0 else "I go on.",
            action=action,
            before=_observation(shown[index], None),
            after=_observation(shown[index + 1], text if place == "output" else None),
            started_at=START + timedelta(seconds=index),
            ended_at=START + timedelta(seconds=index + 1),
        )
        for index, action in enumerate(actions)
    )
    return Trajectory(
        id=name,
        task=Task(id=name, instruction=text if place == "instruction" else "Go on."),
        origin="annotation",
        steps=steps,
        proposals=((), ()),
        outcome="success",
        terminated=True,
        truncated=False,
        created_at=START,
    )


def _observation(picture: BlobRef, text: str | None) -> Observation:
    return Observation(
        screenshot=picture,
        width=WIDTH,
        height=HEIGHT,
        captured_at=START,
        settled=True,
        rest="rested",
        settle_ms=10,
        text=text,
    )


def main() -> None:
    name, dialect, folder = sys.argv[1], get_dialect(sys.argv[2]), Path(sys.argv[3])
    django.setup()
    from annotation_app.blobs.services import local_blob_path
    from annotation_app.exports.part_writers import PART_WRITERS, join_lines

    pictures = _pictures()
    for ref, data in pictures.items():
        path = local_blob_path(ref.sha256)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    form, choice = get_format(name), ExportOptions(dialect)
    folder.mkdir(parents=True)
    truth: list[dict[str, Any]] = []
    files: set[str] = set()
    with PART_WRITERS[form.layout](folder, form, "train", 0, 1) as writer:
        for one in trajectories(tuple(pictures)):
            for record in form.records(one, choice):
                truth.append(
                    {"key": record.key, "code": getattr(record, "code", None), "steps": _done(one, record.key)}
                )
                if not isinstance(record, SkippedRow):
                    truth[-1]["written"] = _written(record)
                    writer.add(record)
                    files.update(record.lines)
        writer.close()
    for file in files:
        join_lines(folder, "train", file, file, 1, first_line_marker=form.first_line_marker)
    for path_, content in form.sidecar_files({"train": tuple(sorted(files))}).items():
        (folder / path_).write_bytes(content)
    folder.with_suffix(".truth.json").write_text(json.dumps(truth))


def _done(trajectory: Trajectory, key: str) -> list[dict[str, Any]]:
    """The thought and the action of each step that a row is about."""
    return [
        {"thought": step.thought, "action": step.action.model_dump(mode="json")}
        for step in trajectory.steps
        if key.replace(".", "_")
        in {name.replace(".", "_") for name in (trajectory.id, f"{trajectory.id}-{step.index:05d}")}
    ]


def _written(record: Record) -> dict[str, Any]:
    """A row as it is to be read: its lines by file, or what a table or a sample holds with its pictures' digests."""
    if record.lines:
        return {name: json.loads(line) for name, line in record.lines.items()}
    values = dict(record.row) or next(json.loads(data) for data in record.files.values() if isinstance(data, bytes))
    return {"row": values, "images": [image.sha256 for image in record.images]}


def _pictures() -> dict[BlobRef, bytes]:
    """Screens that differ in their shade."""
    import simplejpeg
    from numpy import full, uint8

    shades = range(0, 256, 256 // PICTURES)
    made = [bytes(simplejpeg.encode_jpeg(full((HEIGHT, WIDTH, 3), shade, dtype=uint8), quality=90)) for shade in shades]
    return {BlobRef.of(data, "image/jpeg"): data for data in made}


if __name__ == "__main__":
    main()
