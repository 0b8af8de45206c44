"""UI-TARS's own supervised samples: a list of turns a line, of which the last is learned.

Older steps are turns of the assistant without a picture. `images.jsonl` names the pictures of the same line, which
UI-TARS's example file leaves to its loader.
"""

from collections.abc import Iterator
from functools import partial

from protocol.formats.records import ExportFormat, ExportOptions, Record, SkippedRow, build_record
from protocol.formats.row_checks import check_loss_mask, check_special_tokens
from protocol.formats.special_tokens import UI_TARS
from protocol.formats.training_examples import (
    TrainingExample,
    escape_reply_text,
    message_text,
    to_json_line,
    training_examples,
)
from protocol.trajectory.export_folders import image_path
from protocol.trajectory.trajectories import Trajectory

PICTURE = "<|vision_start|><|image_pad|><|vision_end|>"


def records(trajectory: Trajectory, options: ExportOptions) -> Iterator[Record | SkippedRow]:
    """One sample a step."""
    for example in training_examples(trajectory, options):
        yield build_record(example.key, partial(_record, example))


def _record(example: TrainingExample) -> Record:
    turns = [
        {"role": message.role, "content": message_text(message, example, UI_TARS, PICTURE), "loss_mask": 0}
        for message in example.messages
    ]
    check_special_tokens(
        (str(turn["content"]) for turn in turns), len(example.images), PICTURE, UI_TARS, example.dialect
    )
    turns.append({"role": "assistant", "content": escape_reply_text(example.target, example, UI_TARS), "loss_mask": 1})
    check_loss_mask((turn["loss_mask"] == 1 for turn in turns), example.key)
    paths = [image_path(image) for image in example.images]
    return Record(
        example.key, example.images, lines={"samples.jsonl": to_json_line(turns), "images.jsonl": to_json_line(paths)}
    )


FORMAT = ExportFormat("ui_tars", "lines", records, dialect=True)
