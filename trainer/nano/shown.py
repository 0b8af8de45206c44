"""Attempts of experts, people and policies as decisions: a folder of trajectories through the one renderer."""

import io
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from pathlib import Path
from random import Random

import numpy as np
from PIL import Image

from trainer.nano.asked import Decision, Speller, asked_pairs, begun
from trainer.nano.asking import dialect
from trainer.nano.sentences import thought
from trainer.nano.targets import NOWHERE
from trainer.trajectories import TrajectoryFolder
from vocabulary.actions import Drag, TypeText
from vocabulary.blobs import BlobRef
from vocabulary.dialect import ChatMessage, ImagePart, Parsed, Screen
from vocabulary.memory import Budget
from vocabulary.resize import smart_resize
from vocabulary.samples import Sample, samples_of
from vocabulary.trajectories import Trajectory

SERVED = Budget(images=1, stride=1)
"""What it is served with: the present screen, and what was done before as text."""
QUOTED = re.compile(r"[“\"]([^“”\"]+)[”\"]")
"""What an instruction calls by its name."""
Size = tuple[int, int]


@dataclass(frozen=True)
class Kept:
    """A decision whose picture is unpacked when it is drawn: ten thousand unpacked ones are 2.5 GB."""

    task: str
    page: str
    attempt: str
    size: Size
    """Of the picture as the model gets it."""
    packed: bytes
    decision: Decision
    """Without its pixels."""

    def whole(self) -> Decision:
        """With its pixels."""
        return replace(self.decision, pixels=np.asarray(_scaled(self.packed, self.size)))


class Shown:
    """The decisions in some folders, by the size of their pictures, by their folder and by their task."""

    def __init__(self, folders: Sequence[TrajectoryFolder], speller: Speller) -> None:
        self._times = Counter(folder.path for folder in folders)
        self._by_size: dict[Size, dict[tuple[Path, str], list[Kept]]] = {}
        self._won = defaultdict[tuple[Path, str], set[str]](set)
        for folder in {folder.path: folder for folder in folders}.values():
            for one in decisions_of(folder, speller):
                self._by_size.setdefault(one.size, {}).setdefault((folder.path, one.task), []).append(one)
                self._won[folder.path, one.page].add(one.attempt)

    def __len__(self) -> int:
        return sum(len(each) for tasks in self._by_size.values() for each in tasks.values())

    def draw(self, random: Random, count: int) -> list[Decision]:
        """So many of one size. A task is drawn as often as the root of its decisions is large: one of ten acts has more
        to teach than one of one, but not ten times as much. A folder that is named twice is drawn from twice as
        often. A page that was won eight times teaches no more than one that was won once: else a policy would learn
        most from its own attempts where it needs to least."""
        sizes = {
            size: [self._times[path] * sqrt(len(each)) for (path, _), each in tasks.items()]
            for size, tasks in sorted(self._by_size.items())
        }
        (size,) = random.choices(list(sizes), [sum(shares) for shares in sizes.values()])
        tasks = random.choices(list(self._by_size[size].items()), sizes[size], k=count)
        return [self._one(random, path, each).whole() for (path, _), each in tasks]

    def _one(self, random: Random, path: Path, each: Sequence[Kept]) -> Kept:
        (one,) = random.choices(each, [1 / len(self._won[path, kept.page]) for kept in each])
        return one


def decisions_of(folder: TrajectoryFolder, speller: Speller) -> Iterator[Kept]:
    """Every step that stands and can be said, as it is asked for when it is served; of no attempt that failed."""
    for trajectory in folder.trajectories():
        if trajectory.verdict is not None and trajectory.verdict.success is False:
            continue
        for sample in samples_of(in_own_words(trajectory), dialect(), budget=SERVED):
            if (shown := picture_of(sample.messages)) is not None:
                packed = folder.bytes(shown)
                size = _size(packed)
                decision = _decision(sample, size, speller, trajectory.task.instruction)
                task = trajectory.task
                yield Kept(task.name or "", task.id, trajectory.id, size, packed, decision)


def in_own_words(trajectory: Trajectory) -> Trajectory:
    """The attempt with the policy's own thoughts: what others think is long, and not what it is served after."""
    steps = (
        step.model_copy(
            update={
                "thought": thought(step.action, (step.before.width, step.before.height)),
                # Attempts of before decision 414 were told at their beginning that their page had been opened.
                "before": step.before.unopened() if step.index == 0 else step.before,
            }
        )
        for step in trajectory.steps
    )
    return trajectory.model_copy(update={"steps": tuple(steps)})


def picture_of(messages: Sequence[ChatMessage]) -> BlobRef | None:
    """The present screen; None where there is only text."""
    pictures = [part.image for message in messages for part in message.content if isinstance(part, ImagePart)]
    return pictures[-1] if pictures else None


def _decision(sample: Sample, size: Size, speller: Speller, instruction: str) -> Decision:
    before, after = speller.around(sample.messages)
    sentence = speller.found(instruction, before)
    if len(sentence) != len(instruction.encode()):
        sentence = range(0)
    pairs = _quoted(instruction, sentence) if sentence else ()
    said = dialect().parse(sample.target, Screen(width=size[0], height=size[1]))
    act = said.action if isinstance(said, Parsed) else None
    return Decision(
        pixels=np.empty((0, 0, 3), np.uint8),
        before=before,
        after=after,
        reply=speller.reply(sample.target),
        point=begun(act),
        end=(act.end.x, act.end.y) if isinstance(act, Drag) else None,
        target=None,
        seen=None,
        sentence=sentence if pairs else range(0),
        pairs=pairs,
        copied=_copied(act.text, instruction, sentence) if sentence and isinstance(act, TypeText) else range(0),
    )


def _quoted(instruction: str, sentence: range) -> tuple[tuple[int, int], ...]:
    """The pairs of letters of what an instruction has in quotes, each where its second letter stands."""
    return tuple(
        pair
        for found in QUOTED.finditer(instruction)
        for pair in asked_pairs(found[1], sentence.start + len(instruction[: found.start(1)].encode()))
    )


def _copied(text: str, instruction: str, stands: range) -> range:
    """Where in an instruction stands what is typed, in quotes or else once, in capitals or not; nowhere if it is not to
    be found or not spelled by bytes there."""
    said, wanted = instruction.lower(), text.lower()
    at = said.find(f'"{wanted}"') + 1 or (said.find(wanted) if said.count(wanted) == 1 else NOWHERE)
    if at == NOWHERE or not text.isascii() or len(said) != len(instruction):
        return range(0)
    begin = stands.start + len(instruction[:at].encode())
    return range(begin, begin + len(text) + 1)


def _size(data: bytes) -> Size:
    """Width and height, as the image processor scales it."""
    with Image.open(io.BytesIO(data)) as picture:
        rows, columns = smart_resize(picture.height, picture.width)
    return columns, rows


def _scaled(data: bytes, size: Size) -> Image.Image:
    return Image.open(io.BytesIO(data)).convert("RGB").resize(size, Image.Resampling.BICUBIC)
