"""Scripted sessions of somebody who thinks aloud: acts, what is said, when, and which acts each sentence is about.

Written sentence by sentence, without the rules that align them: `protocol.formats.spoken_thoughts` never sees the
right-hand side.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

CLICK, TYPE, SCROLL, KEYS, DRAG = "click", "type", "scroll", "keys", "drag"

PLANS = (
    ("i want to open the settings", CLICK),
    ("let me open the file menu", CLICK),
    ("i need the search box at the top", CLICK),
    ("now i click the blue button", CLICK),
    ("next is the send button", CLICK),
    ("the save button should be down here", CLICK),
    ("maybe the menu on the left has it", CLICK),
    ("i am looking for the date so i open the calendar", CLICK),
    ("we should check the second page", CLICK),
    ("the price is too high so i take the cheaper one", CLICK),
    ("because the list is long i scroll down", SCROLL),
    ("let me scroll to the end of the page", SCROLL),
    ("i have to see more of this table", SCROLL),
    ("time to save this with the keyboard", KEYS),
    ("i will go back with the shortcut", KEYS),
    ("i drag the picture into the other folder", DRAG),
    ("this file belongs in the archive so i move it", DRAG),
    ("i must enter the name of the hotel", TYPE),
    ("the form wants an address here", TYPE),
    ("i search for cheap flights", TYPE),
)
DURING = (
    ("typing the address of the office", TYPE),
    ("i am writing the whole sentence here", TYPE),
    ("entering the number from the letter", TYPE),
    ("pulling the slider to the right", DRAG),
    ("scrolling through all these names", SCROLL),
)
AFTER = (
    "that worked",
    "great, the window is open",
    "it opened in a new tab",
    "good, that was the right one",
    "the file is saved",
    "there it is",
    "i typed it correctly",
    "nice, it shows the list",
    "perfect",
    "done",
)
CORRECTIONS = (
    "no wait, that is the wrong field",
    "oops, i need the other button",
    "actually, the smaller one is better",
    "wait, i have to undo this",
    "hold on, this is not the page",
    "no, i meant the second row",
)
FILLERS = ("um", "uh, okay", "hmm", "so, well", "okay", "let me see", "right, um")
BATCHES = (
    ("i will fill in the name, the street and the city", 3),
    ("first i close the window, then i open the menu", 2),
    ("i press the button and then i choose the color", 2),
    ("now the day, the month and the year", 3),
)
ASIDES = ("my coffee is cold again", "somebody is mowing the lawn outside")


@dataclass
class ScriptedAct:
    """An act and when it is done: seconds from the begin."""

    kind: str
    begin_s: float
    end_s: float
    text: str = ""


@dataclass
class ScriptedThought:
    """A sentence, when it begins, and the places of the acts that it is about."""

    text: str
    begin_s: float
    acts: tuple[int, ...]
    kind: str


@dataclass
class Script:
    """One session."""

    acts: list[ScriptedAct] = field(default_factory=list)
    thoughts: list[ScriptedThought] = field(default_factory=list)


LENGTHS_S = {CLICK: 0.1, TYPE: 3.0, SCROLL: 1.5, KEYS: 0.1, DRAG: 1.2}
NAMES = ("alice", "berlin", "seven", "orange", "window")


class ScriptWriter:
    """Writes a session at random. `length_of` says how many seconds a sentence takes."""

    def __init__(self, rng: random.Random, length_of: Callable[[str], float]) -> None:
        self._rng, self._length_of = rng, length_of
        self._now = 2.0
        self.script = Script()
        self._kinds: dict[str, Callable[[], None]] = {
            "plan": self._plan,
            "during": self._during,
            "after": self._after,
            "correction": self._correction,
            "filler": self._filler,
            "batch": self._batch,
            "aside": self._aside,
            "silent": self._silent,
        }

    def write(self, kinds: Iterator[str]) -> Script:
        """The session with these parts, in order."""
        for kind in kinds:
            self._kinds[kind]()
            self._now += self._rng.uniform(1.6, 4.0)
        return self.script

    def _plan(self) -> None:
        text, kind = self._rng.choice(PLANS)
        self._speak(text, (len(self.script.acts),), "plan")
        # people often act before the sentence is over
        self._now += self._rng.choice((self._rng.uniform(0.2, 4.0), -self._rng.uniform(0.1, 0.6)))
        self._act(kind)

    def _during(self) -> None:
        text, kind = self._rng.choice(DURING)
        length = max(LENGTHS_S[kind], self._length_of(text) + 0.8)
        begin = self._now
        self._now += self._rng.uniform(0.35, 0.6)
        self._speak(text, (len(self.script.acts),), "during")
        self._now = begin
        self._act(kind, length)

    def _after(self) -> None:
        self._act(self._rng.choice((CLICK, KEYS, TYPE)))
        self._now += self._rng.uniform(0.4, 3.0)
        self._speak(self._rng.choice(AFTER), (len(self.script.acts) - 1,), "after")

    def _correction(self) -> None:
        self._act(CLICK)
        self._now += self._rng.uniform(0.5, 2.0)
        self._speak(self._rng.choice(CORRECTIONS), (len(self.script.acts),), "correction")
        self._now += self._rng.uniform(0.3, 2.5)
        self._act(self._rng.choice((CLICK, KEYS)))

    def _filler(self) -> None:
        self._speak(self._rng.choice(FILLERS), (), "filler")

    def _batch(self) -> None:
        text, count = self._rng.choice(BATCHES)
        first = len(self.script.acts)
        self._speak(text, tuple(range(first, first + count)), "batch")
        for _ in range(count):
            self._now += self._rng.uniform(0.6, 1.6)
            self._act(CLICK)

    def _aside(self) -> None:
        self._now += 14.0
        self._speak(self._rng.choice(ASIDES), (), "aside")
        self._now += 14.0

    def _silent(self) -> None:
        self._act(self._rng.choice((CLICK, KEYS)))

    def _act(self, kind: str, length_s: float | None = None) -> None:
        end_s = self._now + (LENGTHS_S[kind] if length_s is None else length_s)
        text = self._rng.choice(NAMES) if kind == TYPE else ""
        self.script.acts.append(ScriptedAct(kind, self._now, end_s, text))
        self._now = end_s

    def _speak(self, text: str, acts: tuple[int, ...], kind: str) -> None:
        self.script.thoughts.append(ScriptedThought(text, self._now, acts, kind))
        self._now += self._length_of(text)


MIX = {"plan": 6, "during": 2, "after": 4, "correction": 2, "filler": 2, "batch": 2, "aside": 1, "silent": 2}


def write_script(rng: random.Random, length_of: Callable[[str], float], parts: int) -> Script:
    """A session of so many parts in the mix of a person who thinks aloud."""
    kinds = rng.choices(list(MIX), list(MIX.values()), k=parts)
    return ScriptWriter(rng, length_of).write(iter(kinds))


def score_pairs(found: list[tuple[Any, int]], truth: list[tuple[Any, int]]) -> tuple[float, float, float]:
    """Precision, recall and F1 of pairs of a thought and an act."""
    hits = len(set(found) & set(truth))
    precision, recall = hits / len(found) if found else 0.0, hits / len(truth) if truth else 0.0
    return precision, recall, 2 * hits / (len(found) + len(truth)) if found or truth else 1.0
