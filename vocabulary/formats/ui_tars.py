"""UI-TARS's own supervised samples: a list of turns a line, of which the last is learned.

Older steps are turns of the assistant without a picture. `images.jsonl` names the pictures of the same line, which
UI-TARS's example file leaves to its loader.
"""

from collections.abc import Iterator

from vocabulary.exports import image_path
from vocabulary.formats.checks import images_check, mask_check
from vocabulary.formats.record import Choice, Format, Record
from vocabulary.formats.telling import line, text_of, told_of
from vocabulary.trajectories import Trajectory

PICTURE = "<|vision_start|><|image_pad|><|vision_end|>"


def records(trajectory: Trajectory, choice: Choice) -> Iterator[Record]:
    """One sample a step."""
    for told in told_of(trajectory, choice):
        turns = [
            {"role": message.role, "content": text_of(message, PICTURE), "loss_mask": 0} for message in told.messages
        ]
        turns.append({"role": "assistant", "content": told.target, "loss_mask": 1})
        images_check(sum(str(turn["content"]).count(PICTURE) for turn in turns), told.images, told.key)
        mask_check((turn["loss_mask"] == 1 for turn in turns), told.key)
        paths = [image_path(image) for image in told.images]
        yield Record(told.key, told.images, lines={"samples.jsonl": line(turns), "images.jsonl": line(paths)})


FORMAT = Format("ui_tars", "lines", records, dialect=True)
