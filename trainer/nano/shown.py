"""Attempts of experts, people and policies as decisions: a folder of trajectories through the one renderer."""

import io
from collections.abc import Iterator, Sequence
from random import Random

import numpy as np
from PIL import Image

from trainer.nano.asked import Decision, Speller
from trainer.nano.asking import dialect
from trainer.nano.sentences import thought
from trainer.trajectories import TrajectoryFolder
from vocabulary.actions import Click, DoubleClick, RightClick
from vocabulary.blobs import BlobRef
from vocabulary.dialect import ChatMessage, ImagePart, Parsed, Screen
from vocabulary.memory import Budget
from vocabulary.resize import smart_resize
from vocabulary.samples import Sample, samples_of
from vocabulary.trajectories import Trajectory

SERVED = Budget(images=1, stride=1)
"""What it is served with: the present screen, and what was done before as text."""
Size = tuple[int, int]


class Shown:
    """The decisions in some folders, by the size of their pictures."""

    def __init__(self, folders: Sequence[TrajectoryFolder], speller: Speller) -> None:
        self._by_size: dict[Size, list[Decision]] = {}
        for folder in folders:
            for one in decisions_of(folder, speller):
                self._by_size.setdefault((one.pixels.shape[1], one.pixels.shape[0]), []).append(one)

    def __len__(self) -> int:
        return sum(map(len, self._by_size.values()))

    def draw(self, random: Random, count: int) -> list[Decision]:
        """So many of one size, sizes as often as they have decisions."""
        sizes = sorted(self._by_size)
        (size,) = random.choices(sizes, [len(self._by_size[one]) for one in sizes])
        return random.choices(self._by_size[size], k=count)


def decisions_of(folder: TrajectoryFolder, speller: Speller) -> Iterator[Decision]:
    """Every step that stands and can be said, as it is asked for when it is served; of no attempt that failed."""
    for trajectory in folder.trajectories():
        if trajectory.verdict is not None and trajectory.verdict.success is False:
            continue
        for sample in samples_of(in_own_words(trajectory), dialect(), budget=SERVED):
            if (shown := picture_of(sample.messages)) is not None:
                yield _decision(sample, _scaled(folder.bytes(shown)), speller)


def in_own_words(trajectory: Trajectory) -> Trajectory:
    """The attempt with the policy's own thoughts: what others think is long, and not what it is served after."""
    steps = (
        step.model_copy(update={"thought": thought(step.action, (step.before.width, step.before.height))})
        for step in trajectory.steps
    )
    return trajectory.model_copy(update={"steps": tuple(steps)})


def picture_of(messages: Sequence[ChatMessage]) -> BlobRef | None:
    """The present screen; None where there is only text."""
    pictures = [part.image for message in messages for part in message.content if isinstance(part, ImagePart)]
    return pictures[-1] if pictures else None


def _decision(sample: Sample, picture: Image.Image, speller: Speller) -> Decision:
    before, after = speller.around(sample.messages)
    said = dialect().parse(sample.target, Screen(width=picture.width, height=picture.height))
    act = said.action if isinstance(said, Parsed) else None
    return Decision(
        pixels=np.asarray(picture),
        before=before,
        after=after,
        reply=speller.reply(sample.target),
        point=(act.x, act.y) if isinstance(act, Click | DoubleClick | RightClick) else None,
        target=None,
        seen=None,
    )


def _scaled(data: bytes) -> Image.Image:
    """As the image processor scales it."""
    picture = Image.open(io.BytesIO(data)).convert("RGB")
    rows, columns = smart_resize(picture.height, picture.width)
    return picture.resize((columns, rows), Image.Resampling.BICUBIC)
