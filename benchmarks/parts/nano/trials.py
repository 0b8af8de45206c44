"""Which tasks the nano policy is tried at, on which screens, and how many attempts of how many acts it has there."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from protocol.trajectory.tasks import Task
from vm_bridge.suites.registry import WEB_SUITES
from vm_bridge.suites.web.manifest import SMALL_SIZE

MINIWOB, DRILLS = "miniwob", "drills"
POINTING = (
    *("click-button", "click-dialog-2", "click-tab", "click-link", "click-widget", "click-color", "focus-text-2"),
    *("grid-coordinate", "identify-shape", "unicode-test"),
)
"""Those of MiniWoB++ that are done by one click, at a target whose label and place vary by the seed."""
ALIKE = ("click-test", "click-test-2", "click-test-transfer", "click-dialog", "focus-text")
"""Those done by one click where every seed asks for the same."""
STEPWISE = {
    **dict.fromkeys(("click-tab-2-easy", "click-tab-2-medium", "navigate-tree"), 1),
    **dict.fromkeys(("click-collapsible", "click-collapsible-nodelay", "click-collapsible-2-nodelay"), 2),
    **dict.fromkeys(("circle-center", "click-option", "click-button-sequence", "find-greatest", "generate-number"), 2),
    **dict.fromkeys(("click-tab-2-hard",), 2),
    **dict.fromkeys(("enter-text", "enter-text-2", "enter-text-dynamic", "enter-time", "choose-date-easy"), 3),
    **dict.fromkeys(("click-checkboxes", "click-checkboxes-transfer"), 3),
    **dict.fromkeys(("form-sequence-2", "use-autocomplete-nodelay", "odd-or-even"), 4),
    **dict.fromkeys(("enter-password", "login-user", "login-user-popup", "ascending-numbers"), 5),
    **dict.fromkeys(("click-shades", "search-engine"), 5),
    "multi-orderings": 7,
}
"""Those of MiniWoB++ done by several acts on some seeds or on all: how many the expert needs, in the middle of 120
seeds."""
OWN = {
    "drills": {
        **dict.fromkeys(("calendar", "chips", "dialog", "filing", "icons", "links", "press"), 1),
        **dict.fromkeys(("rows", "switches", "tabs"), 1),
        **dict.fromkeys(("menu", "options"), 2),
        **dict.fromkeys(("checklist", "rename", "sequence", "stepper"), 3),
        **{"keypad": 4, "search": 4, "wizard": 4, "form": 5},
    },
    "sites": {
        **{"kanban": 1, "editor": 2, "settings": 3, "popups": 4, "outages": 4},
        **{"login": 5, "picker": 6, "signup": 6},
    },
    "games": {
        **{"lasers": 2, "lights": 2, "blocks": 3, "match3": 3, "merge": 5},
        **{"labyrinth": 6, "maze": 6, "memory": 6, "sliding": 6, "sokoban": 6, "tower3d": 7, "minesweeper": 8},
        **{"pipes": 10, "tetris": 14, "tubes": 16, "snake": 19, "2048": 21, "platformer": 35},
    },
}
"""The bundled tasks that run at a small screen, and how many acts the expert needs at their first level: in the middle
of 12 seeds at least."""
SOLVED = 0.8
"""The share of its seeds from which on a task counts as solved."""
MULTISTEP = 3
"""From so many acts on a task is one of several steps."""
MORE = 4
"""Acts an attempt may have beyond what the expert needs, or half as many as that, if those are more; one of MiniWoB++
that is one click has one more."""
LONG = 10
"""From so many acts on, a bundled task is tried on half as many seeds."""
FIRST = 5
"""Seeds of a task that are played first; where none of them is solved, no more are."""
FEW = 4
"""Attempts at random and at a grey picture that are played first; there are more where these leave it open whether the
policy does better."""
STILL = 3
"""Times in a row that the same may be done at the same picture of a bundled task: a policy that draws nothing would go
on with it."""


@dataclass(frozen=True)
class Trial:
    """A task, and what attempts at it may take."""

    suite: str
    name: str
    size: tuple[int, int]
    acts: int
    """How many the expert needs."""
    most: int
    """How many an attempt may have."""
    seeds: int
    """Attempts of the policy, each at a seed of its own, from 0 on."""
    first: int
    """How many of them decide whether there are more."""
    still: int
    """After so many times of the same at the same picture an attempt is over."""
    blind: int
    """Attempts at a grey picture, at most; they use up all their acts, and so do those at random."""
    chance: int
    """Attempts at random, at most."""
    level: int = 1
    """Of a task that has levels."""

    def task(self, seed: int) -> Task:
        """It at a seed."""
        return WEB_SUITES[self.suite].make(self.name, seed=seed, level=self.level, size=self.size)

    @property
    def key(self) -> str:
        """What it is called among the figures."""
        return self.name if self.suite == MINIWOB else f"{self.suite}/{self.name}"

    @property
    def pointing(self) -> bool:
        """Whether it is one click or one drag, at a target whose label and place vary."""
        return (self.suite == DRILLS and self.acts == 1) or (self.suite == MINIWOB and self.name in POINTING)

    @property
    def multistep(self) -> bool:
        """Whether it takes several steps."""
        return self.acts >= MULTISTEP


def trials(seeds: int = 20, level: int = 1) -> Iterator[Trial]:
    """All: MiniWoB++'s tasks at their own size, then the bundled ones at a small screen, drills at the level asked
    for."""
    for name in (*ALIKE, *POINTING):
        yield Trial(MINIWOB, name, (160, 210), 1, 2, seeds, min(FIRST, seeds), still=2, blind=12, chance=12)
    for name, acts in STEPWISE.items():
        most = acts + MORE
        yield Trial(MINIWOB, name, (160, 210), acts, most, seeds, min(FIRST, seeds), most, FEW, chance=12)
    for suite, tasks in OWN.items():
        for name, acts in tasks.items():
            if suite == DRILLS:
                most = min(acts + (1 if acts == 1 else MORE), WEB_SUITES[suite].make(name, level=level).max_steps)
                blind = 6 if acts == 1 else FEW
                first = min(FIRST, seeds)
                yield Trial(suite, name, SMALL_SIZE, acts, most, seeds, first, STILL, blind, chance=6, level=level)
                continue
            most = min(acts + max(MORE, acts // 2), WEB_SUITES[suite].make(name).max_steps)
            count = seeds // 2 if acts >= LONG else seeds
            yield Trial(suite, name, SMALL_SIZE, acts, most, count, min(FIRST, count), STILL, blind=2, chance=4)


class TaskResult(NamedTuple):
    """How a task came out: its share of seeds, and whether its interval is clear of chance and of a grey picture."""

    rate: float
    above_random: bool
    above_blind: bool


def count_solved(tasks: Mapping[Trial, TaskResult]) -> dict[str, int]:
    """How many tasks are solved: bundled ones (drills, sites and games) of each kind, and MiniWoB++'s, also how many of
    those are clear of chance and of blindness."""
    solved = [one for one, came in tasks.items() if came.rate >= SOLVED]
    bundled = [one for one in solved if one.suite != MINIWOB]
    miniwob = [came for one, came in tasks.items() if one.suite == MINIWOB]
    return {
        "tasks_above_0_8": len(bundled),
        "pointing_tasks_above_0_8": sum(one.pointing for one in bundled),
        "multistep_tasks_above_0_8": sum(one.multistep for one in bundled),
        "sites_and_games_above_0_8": sum(one.suite != DRILLS for one in bundled),
        "bundled_tasks_above_blind": sum(came.above_blind for one, came in tasks.items() if one.suite != MINIWOB),
        "miniwob_tasks_above_0_8": sum(one.suite == MINIWOB for one in solved),
        "miniwob_pointing_above_0_8": sum(one.suite == MINIWOB and one.pointing for one in solved),
        "miniwob_multistep_above_0_8": sum(one.suite == MINIWOB and one.multistep for one in solved),
        "miniwob_tasks_above_random": sum(came.above_random for came in miniwob),
        "miniwob_tasks_above_blind": sum(came.above_blind for came in miniwob),
    }
