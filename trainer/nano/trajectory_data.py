"""Attempts of experts, people and policies as decisions: a folder of trajectories through the one renderer."""

import io
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from pathlib import Path
from random import Random

import numpy as np
from PIL import Image

from protocol.actions.types import Click, Drag, TypeText
from protocol.blobs import BlobRef
from protocol.dialects.coordinates import smart_resize
from protocol.dialects.dialect import ChatMessage, ImagePart, ParsedReply, ScreenSize
from protocol.training.samples import Sample, training_samples
from protocol.trajectory.memory import HistoryBudget
from protocol.trajectory.observations import PageLayout
from protocol.trajectory.reviews import StepReview
from protocol.trajectory.steps import Step, apply_review_fix, is_corrected
from protocol.trajectory.trajectories import Trajectory
from trainer.data.corrections import CLASS_WEIGHTS, Role, Weighting, step_weights
from trainer.data.trajectories import TrajectoryFolder
from trainer.nano.batches import (
    Decision,
    DecisionTokenizer,
    action_start_point,
    build_decision,
    due_name_span,
    due_text_span,
    label_letter_pairs,
    sample_decision,
)
from trainer.nano.prompts import nano_dialect
from trainer.nano.synthetic.forms import NextAction
from trainer.nano.synthetic.instructions import format_thought
from trainer.nano.synthetic.labels import is_held_out
from trainer.nano.synthetic.ordered_tasks import sample_ordered_task, uniquely_named
from trainer.nano.synthetic.screens import UNTOUCHED, Screen, TextLine, Widget
from trainer.nano.synthetic.targets import NOWHERE, screen_targets

SERVED = HistoryBudget(images=1, stride=1)
"""What it is served with: the present screen, and what was done before as text."""
QUOTED = re.compile(r"[“\"]([^“”\"]+)[”\"]")
"""What an instruction calls by its name."""
WORD = re.compile(r"[A-Za-z]+")
PRESSED = 0.8
"""How often, where another part is asked for, it is one that can be pressed."""
MAX_THOUGHT_CHARACTERS = 80
"""Of a person's thought that is asked with: as long as an instruction of one act."""
LONGEST = 28
"""Letters of a part that may be asked for."""
MAX_PIXELS = 40_000_000
"""Largest screenshot that is decoded."""
Size = tuple[int, int]


@dataclass(frozen=True)
class StoredDecision:
    """A decision whose picture is unpacked when it is drawn: ten thousand unpacked ones are 2.5 GB."""

    task: str
    page: str
    attempt: str
    size: Size
    """Of the picture as the model gets it."""
    packed: bytes
    decision: Decision
    """Without its pixels."""
    instruction: str = ""
    parts: str | None = None
    """What stands where on the page, where that was kept (`protocol.trajectory.observations`)."""
    thought: str = ""
    """What a person thought at this step; empty where the policy decided."""
    clicked: bool = False
    """Whether the act is a single click of the first button."""
    weight: float = 1.0
    """How often it is drawn beside the task's other decisions."""

    def whole(self) -> Decision:
        """With its pixels, and with what is to be seen in them where that is known."""
        screen, one = self.screen(), self.decision
        whole = replace(one, pixels=np.asarray(screen.image))
        if not screen.widgets:
            return whole
        chosen, ended = (_hit(screen.widgets, point) for point in (one.point, one.end))
        due = one.due
        if chosen != NOWHERE:
            label = screen.widgets[chosen].label
            due = due or due_name_span(one.names, label) or _unquoted_span(label, self.instruction, one.sentence)
        return replace(whole, seen=screen_targets(screen), chosen=chosen, ended=ended, due=due)

    def screen(self) -> Screen:
        """The picture, and what can be read in it."""
        image = _scaled(self.packed, self.size)
        return Screen(image, () if self.parts is None else page_widgets(self.parts, self.packed, self.size))

    def by_thought(self, decision_tokenizer: DecisionTokenizer) -> Decision | None:
        """The same click, asked for in the words of the person who made it; None where these do not name what is
        clicked, and where the page's layout was not kept: a thought may name what the click has to do with."""
        thought, point = self.thought.strip(), self.decision.point
        if not self.clicked or point is None or not _is_short_sentence(thought):
            return None
        screen = self.screen()
        number = _hit(screen.widgets, point)
        if number == NOWHERE:
            return None
        label = screen.widgets[number].label
        found = _mention(label, thought) if _is_trainable_label(label) else None
        if found is None:
            return None
        x, y = point
        wanted = NextAction(thought, ((found.start(), found[0]),), (), Click(x=x, y=y), number)
        return build_decision(decision_tokenizer, screen, wanted)

    def other(self, decision_tokenizer: DecisionTokenizer, random: Random, ordered: float) -> Decision | None:
        """Another of its parts is asked for, by its name, or several in an order; None where none has a name of its
        own."""
        screen = self.screen()
        able = [one for one in uniquely_named(screen.widgets) if _is_trainable_label(screen.widgets[one].label)]
        own = [screen.widgets[number] for number in able]
        if not own:
            return None
        if len(own) > 1 and random.random() < ordered:
            return build_decision(decision_tokenizer, screen, sample_ordered_task(random, screen.widgets, able))
        pressed = [one for one in own if one.kind != "text"]
        widget = random.choice(pressed if pressed and random.random() < PRESSED else own)
        return sample_decision(decision_tokenizer, random, screen, widget)


class TrajectoryDecisions:
    """The decisions in some folders, by the size of their pictures, by their folder and by their task."""

    def __init__(
        self,
        folders: Sequence[TrajectoryFolder],
        decision_tokenizer: DecisionTokenizer,
        others: float = 0.0,
        ordered: float = 0.0,
        spoken: float = 0.0,
        weighting: Weighting = "none",
        classes: Mapping[Role, float] = CLASS_WEIGHTS,
    ) -> None:
        """`others`: how often another part of a page is asked for, where its parts were kept; `ordered`: how often
        that is one of several in an order; `spoken`: how often a person's click is asked for by what that person
        thought; `weighting`: how often a person's corrections are drawn beside the policy's steps."""
        self._decision_tokenizer, self._others, self._ordered = decision_tokenizer, others, ordered
        self._spoken = spoken
        self._times = Counter(folder.path for folder in folders)
        self._by_size: dict[Size, dict[tuple[Path, str], list[StoredDecision]]] = {}
        self._won = defaultdict[tuple[Path, str], set[str]](set)
        distinct = {folder.path: folder for folder in folders}.values()
        everything = (one for folder in distinct for one in _successes(folder))
        weights = {} if weighting == "none" else step_weights(everything, weighting, classes)
        for folder in distinct:
            for one in read_decisions(folder, decision_tokenizer, weights):
                if one.weight <= 0:
                    continue
                self._by_size.setdefault(one.size, {}).setdefault((folder.path, one.task), []).append(one)
                self._won[folder.path, one.page].add(one.attempt)

    def __len__(self) -> int:
        return sum(len(each) for tasks in self._by_size.values() for each in tasks.values())

    def draw(self, random: Random, count: int) -> list[Decision]:
        """So many of one size. A task is drawn as often as the root of its decisions' weights is large: one of ten acts
        has more to teach than one of one, but not ten times as much. A folder that is named twice is drawn from twice
        as often. A page that was won eight times teaches no more than one that was won once: else a policy would learn
        most from its own attempts where it needs to least."""
        sizes = {
            size: [self._times[path] * sqrt(sum(one.weight for one in each)) for (path, _), each in tasks.items()]
            for size, tasks in sorted(self._by_size.items())
        }
        (size,) = random.choices(list(sizes), [sum(shares) for shares in sizes.values()])
        tasks = random.choices(list(self._by_size[size].items()), sizes[size], k=count)
        return [self._decided(random, self._one(random, path, each)) for (path, _), each in tasks]

    def _decided(self, random: Random, stored: StoredDecision) -> Decision:
        if stored.thought and random.random() < self._spoken and (named := stored.by_thought(self._decision_tokenizer)):
            return named
        other_part = stored.parts is not None and random.random() < self._others
        return (stored.other(self._decision_tokenizer, random, self._ordered) if other_part else None) or stored.whole()

    def _one(self, random: Random, path: Path, each: Sequence[StoredDecision]) -> StoredDecision:
        (one,) = random.choices(each, [stored.weight / len(self._won[path, stored.page]) for stored in each])
        return one


def _successes(folder: TrajectoryFolder) -> Iterator[Trajectory]:
    """The attempts of a folder that did not fail."""
    for trajectory in folder.trajectories():
        if trajectory.verdict is None or trajectory.verdict.success is not False:
            yield trajectory


def read_decisions(
    folder: TrajectoryFolder,
    decision_tokenizer: DecisionTokenizer,
    weights: Mapping[str, Mapping[int, float]] | None = None,
) -> Iterator[StoredDecision]:
    """Every step that stands and can be said, as it is asked for when it is served; of no attempt that failed.
    `weights` are by an attempt's id and a step's index."""
    for trajectory in _successes(folder):
        own = (weights or {}).get(trajectory.id, {})
        targets = tuple(map(apply_review_fix, trajectory.steps))
        thoughts = {step.index: step.thought for step in targets if step.actor == "human" or is_corrected(step)}
        clicks = {step.index for step in targets if isinstance(step.action, Click)}
        known = {
            step.before.screenshot.sha256: step.before.accessibility
            for step in trajectory.steps
            if step.before.screenshot is not None
        }
        for sample in training_samples(with_policy_thoughts(trajectory), nano_dialect(), budget=SERVED):
            if (picture := current_picture(sample.messages)) is not None:
                packed = folder.bytes(picture)
                size = _size(packed)
                decision = _decision(sample, size, decision_tokenizer, trajectory.task.instruction)
                task = trajectory.task
                parts = known.get(picture.sha256)
                yield StoredDecision(
                    *(task.name or "", task.id, trajectory.id, size, packed, decision, task.instruction, parts),
                    thought=thoughts.get(sample.index, ""),
                    clicked=sample.index in clicks,
                    weight=own.get(sample.index, 1.0),
                )


def _is_trainable_label(label: str) -> bool:
    """Whether a part's name can be spelled, and has no word that is kept for measuring."""
    return 1 < len(label) <= LONGEST and label.isascii() and not any(map(is_held_out, WORD.findall(label)))


def page_widgets(parts: str, packed: bytes, size: Size) -> tuple[Widget, ...]:
    """The parts of a page, in pixels of the picture as the model gets it."""
    with _opened(packed) as picture:
        across, down = size[0] / picture.width, size[1] / picture.height
    made = []
    for part in PageLayout.model_validate_json(parts).parts:
        left, top, right, bottom = part.box
        box = left * across, top * down, right * across, bottom * down
        high, low = part.line
        bounds = tuple(bound * across for bound in part.bounds)
        writing = TextLine(part.text, bounds, high * down, low * down)
        made.append(Widget(part.kind, part.text, box, box, writing, UNTOUCHED))
    return tuple(made)


def _hit(widgets: Sequence[Widget], point: tuple[int, int] | None) -> int:
    """The smallest one below a point; NOWHERE where there is none."""
    found = [number for number, one in enumerate(widgets) if point is not None and one.hit(*point)]
    return min(found, key=lambda number: _area(widgets[number]), default=NOWHERE)


def _area(widget: Widget) -> float:
    left, top, right, bottom = widget.box
    return (right - left) * (bottom - top)


def with_policy_thoughts(trajectory: Trajectory) -> Trajectory:
    """The attempt with the policy's own thoughts: what others think is long, and not what it is served after."""
    steps = (
        step.model_copy(
            update={
                "thought": format_thought(step.action, (step.before.width, step.before.height)),
                "review": _with_policy_thought(step),
                # The first observation of older attempts says that their page was opened: docs/adr/browser-machines.md.
                "before": step.before.without_navigation() if step.index == 0 else step.before,
            }
        )
        for step in trajectory.steps
    )
    return trajectory.model_copy(update={"steps": tuple(steps)})


def _with_policy_thought(step: Step) -> StepReview | None:
    """A reviewer's verdict on a step; a correction keeps the policy's own thought."""
    review = step.review
    if review is None or review.fix is None:
        return review
    thought = format_thought(review.fix.action, (step.before.width, step.before.height))
    return review.model_copy(update={"fix": review.fix.model_copy(update={"thought": thought})})


def current_picture(messages: Sequence[ChatMessage]) -> BlobRef | None:
    """The present screen; None where there is only text."""
    pictures = [part.image for message in messages for part in message.content if isinstance(part, ImagePart)]
    return pictures[-1] if pictures else None


def _is_short_sentence(thought: str) -> bool:
    return 0 < len(thought) <= MAX_THOUGHT_CHARACTERS and thought.isascii() and thought.isprintable()


def _mention(name: str, thought: str) -> re.Match[str] | None:
    """Where a thought has a name as words of its own."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", thought, re.IGNORECASE) if len(name) > 1 else None


def _decision(sample: Sample, size: Size, decision_tokenizer: DecisionTokenizer, instruction: str) -> Decision:
    before, after = decision_tokenizer.around(sample.messages)
    sentence = decision_tokenizer.found(instruction, before)
    if len(sentence) != len(instruction.encode()):
        sentence = range(0)
    names = _quoted(instruction, sentence) if sentence else ()
    pairs = tuple(pair for begin, words in names for pair in label_letter_pairs(words, begin))
    parsed = nano_dialect().parse(sample.target, ScreenSize(width=size[0], height=size[1]))
    act = parsed.action if isinstance(parsed, ParsedReply) else None
    copied = _copied(act.text, instruction, sentence) if sentence and isinstance(act, TypeText) else range(0)
    return Decision(
        pixels=np.empty((0, 0, 3), np.uint8),
        before=before,
        after=after,
        reply=decision_tokenizer.reply(sample.target),
        point=action_start_point(act),
        end=(act.end.x, act.end.y) if isinstance(act, Drag) else None,
        target=None,
        seen=None,
        sentence=sentence if pairs else range(0),
        pairs=pairs,
        copied=copied,
        names=names,
        done=sum(message.role == "assistant" for message in sample.messages),
        due=due_text_span(names, copied),
    )


def _quoted(instruction: str, sentence: range) -> tuple[tuple[int, str], ...]:
    """What an instruction has in quotes, and where each begins."""
    return tuple(
        (sentence.start + len(instruction[: found.start(1)].encode()), found[1])
        for found in QUOTED.finditer(instruction)
    )


def _unquoted_span(label: str, instruction: str, sentence: range) -> range:
    """Where an instruction says a part's name without quotes; nowhere where it does not, or says more than once."""
    whole = rf"(?<!\w){re.escape(label)}(?!\w)"
    found = list(re.finditer(whole, instruction, re.IGNORECASE)) if len(label) > 1 and sentence else []
    if len(found) != 1:
        return range(0)
    begin = sentence.start + len(instruction[: found[0].start()].encode())
    return range(begin, begin + len(found[0][0].encode()))


def _copied(text: str, instruction: str, stands: range) -> range:
    """Where in an instruction stands what is typed, in quotes or else once, in capitals or not; nowhere if it is not to
    be found or not spelled by bytes there."""
    lowered, wanted = instruction.lower(), text.lower()
    at = lowered.find(f'"{wanted}"') + 1 or (lowered.find(wanted) if lowered.count(wanted) == 1 else NOWHERE)
    if at == NOWHERE or not text.isascii() or len(lowered) != len(instruction):
        return range(0)
    begin = stands.start + len(instruction[:at].encode())
    return range(begin, begin + len(text) + 1)


def _opened(data: bytes) -> Image.Image:
    """A screenshot of an export. Raises UnidentifiedImageError for other formats, ValueError for more pixels than a
    screen has."""
    picture = Image.open(io.BytesIO(data), formats=("PNG", "JPEG"))
    if picture.width * picture.height > MAX_PIXELS:
        raise ValueError(f"a picture of {picture.width} by {picture.height} pixels")
    return picture


def _size(data: bytes) -> Size:
    """Width and height, as the image processor scales it."""
    with _opened(data) as picture:
        rows, columns = smart_resize(picture.height, picture.width)
    return columns, rows


def _scaled(data: bytes, size: Size) -> Image.Image:
    return _opened(data).convert("RGB").resize(size, Image.Resampling.BICUBIC)
