"""What a bundled browser task says of itself: one schema for games and web tasks."""

import json
from functools import cache
from math import ceil, sqrt
from pathlib import Path
from random import Random
from typing import Annotated, Literal

from pydantic import Field, JsonValue, StringConstraints, ValidationError, model_validator

from protocol.base import FrozenModel
from protocol.trajectory.tasks import Language
from vm_bridge.errors import InvalidAction

NAME_PATTERN = r"^[a-z0-9][a-z0-9_-]{0,40}$"
LISTS = Path(__file__).with_name("lists.json")
SMALL_SIZE = (320, 240)
"""The small screen that a task marked `small` must also run at."""
OFFERED_SIZES = (SMALL_SIZE, (640, 480), (800, 600), (1024, 768), (1280, 720))
"""Screens that people choose from, of tasks whose screen can have several sizes (pixels)."""

LANGUAGES: tuple[Language, ...] = ("en", "zh")
Sentence = Annotated[str, StringConstraints(min_length=2, max_length=2_000)]


def offered_sizes(own: tuple[int, int], least: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    """The sizes that a task's screen is chosen from: its own, then the offered ones of at least `least` (pixels)."""
    others = (size for size in OFFERED_SIZES if size != own and size[0] >= least[0] and size[1] >= least[1])
    return own, *others


class LocalizedText(FrozenModel):
    """One text in both languages."""

    en: str
    zh: str


class RangeSlot(FrozenModel):
    """A whole number between two, both included."""

    range: tuple[int, int]


class ChoiceSlot(FrozenModel):
    """One of a list, or `pick` different ones of it; the same place in either language."""

    en: tuple[JsonValue, ...] = ()
    zh: tuple[JsonValue, ...] = ()
    any: tuple[JsonValue, ...] = ()
    pick: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _whole(self) -> "ChoiceSlot":
        if bool(self.any) == bool(self.en or self.zh) or len(self.en) != len(self.zh):
            raise ValueError("a choice has `any`, or `en` and `zh` of the same length")
        if self.pick is not None and self.pick > self.length:
            raise ValueError("a choice cannot pick more than it has")
        return self

    @property
    def length(self) -> int:
        """How many there are to choose from."""
        return len(self.any or self.en)

    def of(self, language: Language) -> tuple[JsonValue, ...]:
        """The list in this language."""
        return self.any or (self.en if language == "en" else self.zh)


class NameSlot(FrozenModel):
    """`pick` different names out of lists.json: words of one list, or pairs of a word of each of two. Pairs share their
    words with each other, so that none is told by half of it, but for the first ones, as far as that goes."""

    named: Annotated[tuple[str, ...], Field(min_length=1, max_length=2)]
    pick: int = Field(ge=1)

    @model_validator(mode="after")
    def _whole(self) -> "NameSlot":
        for name in self.named:
            if name not in read_lists():
                raise ValueError(f"there is no list {name}")
            if self.each > len(read_lists()[name]):
                raise ValueError(f"the list {name} has no {self.each} words")
        return self

    @property
    def each(self) -> int:
        """How many words are drawn of each list."""
        return self.pick if len(self.named) == 1 else ceil(sqrt(self.pick))

    def of(self, draw: Random, language: Language) -> tuple[list[JsonValue], list[JsonValue]]:
        """The names, and at which places of their lists their words stand."""
        side, lists = LANGUAGES.index(language), [read_lists()[name] for name in self.named]
        drawn = [draw.sample(range(len(words)), self.each) for words in lists]
        if len(lists) == 1:
            return [lists[0][place][side] for place in drawn[0]], [*drawn[0]]
        others = [(a, b) for a in range(self.each) for b in range(self.each) if a != b]
        draw.shuffle(others)
        pairs = [*((both, both) for both in range(self.each)), *others][: self.pick]
        joint = " " if language == "en" else ""
        names = [joint.join((lists[0][drawn[0][a]][side], lists[1][drawn[1][b]][side])) for a, b in pairs]
        return [*names], [[drawn[0][a], drawn[1][b]] for a, b in pairs]


@cache
def read_lists() -> dict[str, tuple[tuple[str, str], ...]]:
    """Words by the name of their list, each in both languages."""
    found = json.loads(LISTS.read_text())
    return {name: tuple((en, zh) for en, zh in words) for name, words in found.items()}


Slot = ChoiceSlot | NameSlot | RangeSlot | str | int | float | bool


class Phrasings(FrozenModel):
    """Several ways to say what is to be done."""

    en: Annotated[tuple[Sentence, ...], Field(min_length=3)]
    zh: Annotated[tuple[Sentence, ...], Field(min_length=3)]


class ResponseRule(FrozenModel):
    """How the site answers a path the first `times` times (0: always); the delay is game time."""

    path: str
    times: int = Field(default=0, ge=0)
    delay_ms: float = Field(default=0, ge=0, le=60_000)
    status: int = Field(default=200, ge=200, le=599)
    body: JsonValue = None
    """Answered as JSON; None: the file of that path."""
    abort: bool = False
    """The connection fails."""


class Level(FrozenModel):
    """One step of the curriculum."""

    max_steps: int = Field(ge=1, le=1_000)
    slots: dict[str, Slot] = {}
    instructions: Phrasings | None = None
    responses: tuple[ResponseRule, ...] = ()


class Reference(FrozenModel):
    """What the normalised score is measured against; no human score is invented."""

    kind: Literal["expert", "human"] = "expert"
    score: float
    random: float


class Limits(FrozenModel):
    """Where an episode ends at the latest."""

    game_ms: float = Field(default=600_000, gt=0)


class Manifest(FrozenModel):
    """manifest.json."""

    format: Literal[1]
    name: Annotated[str, StringConstraints(pattern=NAME_PATTERN)]
    kind: Literal["game", "web"]
    version: Annotated[str, StringConstraints(pattern=r"^\d+\.\d+$")]
    title: LocalizedText
    start: str = "/"
    size: tuple[Annotated[int, Field(ge=240, le=4096)], Annotated[int, Field(ge=180, le=4096)]] = (800, 600)
    small: bool = False
    """Whether it also runs at 320 by 240."""
    webgl: bool = False
    step_ms: int = Field(default=0, ge=0, le=10_000)
    """Game time every act takes; 0: as much as the page needs to come to rest."""
    levels: Annotated[tuple[Level, ...], Field(min_length=1)]
    slots: dict[str, Slot] = {}
    instructions: Phrasings
    answer: bool = False
    """Whether the task ends by an answer."""
    responses: tuple[ResponseRule, ...] = ()
    limits: Limits = Limits()
    reference: Reference | None = None

    def level(self, number: int) -> Level:
        """A level by its number, from 1. Raises InvalidAction."""
        if not 1 <= number <= len(self.levels):
            raise InvalidAction(f"{self.name} has the levels 1 to {len(self.levels)}")
        return self.levels[number - 1]

    def filled(self, level: int, seed: int, language: Language) -> tuple[dict[str, JsonValue], dict[str, JsonValue]]:
        """What the seed puts into the slots, and at which places of their lists it stands."""
        values: dict[str, JsonValue] = {}
        picks: dict[str, JsonValue] = {}
        for name, slot in {**self.slots, **self.level(level).slots}.items():
            draw = Random(f"{self.name}-{name}-{level}-{seed}")
            if isinstance(slot, NameSlot):
                values[name], picks[name] = slot.of(draw, language)
            elif isinstance(slot, ChoiceSlot):
                places = draw.sample(range(slot.length), slot.pick or 1)
                chosen = [slot.of(language)[place] for place in places]
                numbers: list[JsonValue] = [*places]
                values[name], picks[name] = (chosen, numbers) if slot.pick else (chosen[0], numbers[0])
            else:
                values[name] = draw.randint(*slot.range) if isinstance(slot, RangeSlot) else slot
        return values, picks

    def instruction(self, level: int, seed: int, language: Language) -> str:
        """The task in words: one of the phrasings, by the seed."""
        phrasings = self.level(level).instructions or self.instructions
        said = phrasings.en if language == "en" else phrasings.zh
        values, _ = self.filled(level, seed, language)
        return Random(f"{self.name}-phrase-{level}-{seed}").choice(said).format(**values)


def read_manifest(folder: Path) -> Manifest:
    """The manifest in a task's folder. Raises ValueError with what is wrong in it."""
    try:
        found = Manifest.model_validate_json((folder / "manifest.json").read_bytes())
    except (OSError, ValidationError) as error:
        raise ValueError(f"{folder.name}/manifest.json: {error}") from error
    if found.name != folder.name:
        raise ValueError(f"{folder.name}/manifest.json: the name is {found.name}")
    return found
