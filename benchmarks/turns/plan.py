"""What is tried, in which order, and what came of it: the ledger of the experiment. No platform here."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from agent_backend.trajectory_folders import write_atomically
from protocol.base import FrozenModel

TASKS = ("grid-coordinate", "click-widget", "click-option", "click-checkboxes")
"""Of MiniWoB++: those of the bundled policy's lessons that a click can do and that it does now and then, by what is
asked. Not `identify-shape`, where it clicks one place whatever is asked, and not `click-color`, where it guesses."""
Pages = Mapping[str, Mapping[int, bool]]
"""Of each task, which pages were solved, by their seeds."""
Arm = Literal["desk", "shown", "paired"]
ARMS: tuple[Arm, ...] = ("desk", "shown", "paired")
"""`desk`: the policy proposes at the desk, and a simulated annotator takes what is right and does the rest. `shown`: as
many steps as the annotator did by hand, demonstrated at the first of the same tasks. `paired`: as many as it judged,
by hand or by taking."""
FIRST_SEED, BLOCK = 50_000, 100
"""Of the tasks people see: a block for each seed and turn, far from what the policy was taught with and tried at."""
TRIED = 100
"""The first seed of what every turn is tried at."""
SETTINGS = "settings.json"


class Sizes(FrozenModel):
    """How much of everything."""

    turns: int = 3
    labels: int = 32
    """Steps a turn that the annotator does by hand; fewer where the block's tasks are used up before."""
    tasks: int = 16
    """Seeds in a block, each with every task."""
    updates: int = 80
    """Of a training."""
    trials: int = 30
    """Attempts at each task after each turn, greedy."""


class Cell(FrozenModel):
    """One turn of one arm."""

    seed: int
    turn: int
    arm: Arm

    @property
    def wheel(self) -> str:
        """What its wheel is called, and its pool."""
        return f"{self.arm}-{self.seed}"

    @property
    def name(self) -> str:
        """What its figures are called."""
        return f"{self.wheel}-{self.turn}"

    @property
    def first_seed(self) -> int:
        """Of its block of tasks."""
        return FIRST_SEED + (self.seed * 10 + self.turn) * BLOCK


class Figures(FrozenModel):
    """What came of a turn. Before it the policy was that of the turn before, after it its own."""

    cell: Cell
    episodes: int
    own: int
    """Steps a person did by hand."""
    accepted: int
    """Steps a person took from the policy."""
    before: Pages | None
    """Where the policy before was tried in this turn."""
    after: Pages
    seconds: float

    @property
    def overridden(self) -> float | None:
        """The share of decisions at which no proposal was right; None where nobody proposed."""
        return self.own / (self.own + self.accepted) if self.cell.arm == "desk" and self.episodes else None


class Ledger:
    """A folder with a file for each cell that is done. Raises ValueError where it is of other sizes."""

    def __init__(self, folder: Path, sizes: Sizes) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        settings = folder / SETTINGS
        if not settings.exists():
            write_atomically(settings, sizes.model_dump_json(indent=1).encode())
        if (found := Sizes.model_validate_json(settings.read_bytes())) != sizes:
            raise ValueError(f"{folder} was begun with {found!r}")

    def known(self, cell: Cell) -> Figures | None:
        """The figures of a cell that is done."""
        path = self._folder / f"{cell.name}.json"
        return Figures.model_validate_json(path.read_bytes()) if path.exists() else None

    def all(self) -> list[Figures]:
        """Of every cell that is done."""
        files = sorted(self._folder.glob("*-*-*.json"))
        return [Figures.model_validate_json(file.read_bytes()) for file in files]

    def keep(self, figures: Figures) -> None:
        """A cell is done."""
        write_atomically(self._folder / f"{figures.cell.name}.json", figures.model_dump_json(indent=1).encode())


def cells(sizes: Sizes, seeds: Sequence[int], arms: Sequence[Arm]) -> Iterator[Cell]:
    """In the order in which they are done: what an arm is given follows from its desk's turns, and a seed is whole
    before the next begins."""
    for seed in seeds:
        for arm in (arm for arm in ARMS if arm in arms):
            yield from (Cell(seed=seed, turn=turn, arm=arm) for turn in range(1, sizes.turns + 1))
