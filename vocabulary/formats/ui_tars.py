"""UI-TARS's own supervised samples: a list of turns a line, of which the last is learned.

Older steps are turns of the assistant without a picture. `images.jsonl` names the pictures of the same line, which
UI-TARS's example file leaves to its loader.
"""

from collections.abc import Iterator
from functools import partial

from vocabulary.exports import image_path
from vocabulary.formats.checks import consumer_check, mask_check
from vocabulary.formats.record import Choice, Format, LeftOut, Record, record_or_reason
from vocabulary.formats.special_words import UI_TARS
from vocabulary.formats.telling import Told, line, reply_text, text_of, told_of
from vocabulary.trajectories import Trajectory

PICTURE = "<|vision_start|><|image_pad|><|vision_end|>"


def records(trajectory: Trajectory, choice: Choice) -> Iterator[Record | LeftOut]:
    """One sample a step."""
    for told in told_of(trajectory, choice):
        yield record_or_reason(told.key, partial(_record, told))


def _record(told: Told) -> Record:
    turns = [
        {"role": message.role, "content": text_of(message, told, UI_TARS, PICTURE), "loss_mask": 0}
        for message in told.messages
    ]
    consumer_check((str(turn["content"]) for turn in turns), len(told.images), PICTURE, UI_TARS, told.dialect)
    turns.append({"role": "assistant", "content": reply_text(told.target, told, UI_TARS), "loss_mask": 1})
    mask_check((turn["loss_mask"] == 1 for turn in turns), told.key)
    paths = [image_path(image) for image in told.images]
    return Record(told.key, told.images, lines={"samples.jsonl": line(turns), "images.jsonl": line(paths)})


FORMAT = Format("ui_tars", "lines", records, dialect=True)
