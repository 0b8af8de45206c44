"""UI-TARS's own supervised samples: a list of turns a line, of which the last is learned.

Older steps are turns of the assistant without a picture. `images.jsonl` names the pictures of the same line, which
UI-TARS's example file leaves to its loader, and `variants.jsonl` the variant of its thought.
"""

from collections.abc import Iterator
from functools import partial

from protocol.formats.records import ExportFormat, ExportOptions, Record, SkippedRow, build_record
from protocol.formats.special_tokens import UI_TARS
from protocol.formats.training_examples import (
    TrainingExample,
    escape_reply_text,
    message_texts,
    to_json_line,
    training_examples,
)
from protocol.trajectory.export_folders import image_path
from protocol.trajectory.trajectories import Trajectory

PICTURE = "<|vision_start|><|image_pad|><|vision_end|>"


def records(trajectory: Trajectory, options: ExportOptions) -> Iterator[Record | SkippedRow]:
    """One sample a step."""
    for example in training_examples(trajectory, options):
        yield build_record(example.key, partial(_record, example, trajectory.variant))


def _record(example: TrainingExample, variant: str) -> Record:
    turns = [_turn(one.message.role, one.json, 0) for one in message_texts(example, UI_TARS, PICTURE)]
    turns.append(_turn("assistant", to_json_line(escape_reply_text(example.target, example, UI_TARS)), 1))
    paths = [image_path(image) for image in example.images]
    lines = {
        "samples.jsonl": f"[{','.join(turns)}]",
        "images.jsonl": to_json_line(paths),
        "variants.jsonl": to_json_line(variant),
    }
    return Record(example.key, example.images, lines=lines)


def _turn(role: str, content: str, loss_mask: int) -> str:
    """A turn as JSON; its content is JSON already."""
    return f'{{"role":"{role}","content":{content},"loss_mask":{loss_mask}}}'


FORMAT = ExportFormat("ui_tars", "lines", records, dialect=True)
