"""The gain of a value model shared by two interfaces, in the toy world: `python -m trainer.toy.hybrid OUT`.

Every task is tried by clicks alone and with a tool beside them. First, critics learn the returns of one fixed
policy's attempts: one critic for both ways, or one for each, from the same attempts. Then PPO begins with them. The
same command resumes an interrupted run: finished parts are only read.
"""

import argparse
import json
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

from protocol.trajectory.proposals import PolicyRef
from trainer.algorithms import ppo, value
from trainer.data.trajectories import open_folder
from trainer.model.checkpoints import load_checkpoint
from trainer.model.critic import load_critic
from trainer.rl.attempts import Attempt, Interface
from trainer.rl.critics import INTERFACES
from trainer.toy.episodes import DIALECT
from trainer.toy.rollouts import LightsSource, create_attempts
from trainer.toy.warm_start import create_warm_start

SIZES = (64, 256)
"""Numbers of attempts that critics learn from, half of them by each way. PPO begins with the critics of the largest."""
EXAM = 1_000_000
"""The first task that is only for measuring; those of PPO are further on."""
Ways = tuple[Interface, ...]
EACH: tuple[Ways, ...] = tuple((way,) for way in INTERFACES)
CRITICS: Mapping[str, tuple[Ways, ...]] = {"one critic": (INTERFACES,), "one for each": EACH}
"""Of what each critic speaks."""
ARMS: Mapping[str, tuple[Ways, ...]] = {
    "one policy, one critic": (INTERFACES,),
    "one policy, a critic for each": (INTERFACES,),
    "a policy and a critic for each": EACH,
}
"""By what each policy acts. All arms play as many attempts in all."""
WORLDS: Mapping[Ways, str] = {INTERFACES: "lights both", ("gui",): "lights", ("functions",): "lights helped"}
SETTINGS: Mapping[str, Any] = {"vision": True, "tokens": 1024, "warmup": 2}

Figures = dict[str, float]


def cached_figures(folder: Path, make: Callable[[], Figures]) -> Figures:
    """The figures of a run, with its processor seconds; it is made or gone on with where it is not done."""
    file = folder / "figures.json"
    if not file.exists():
        began = time.process_time()
        figures = make()
        file.write_text(json.dumps(figures | {"cpu_seconds": time.process_time() - began}))
    found: Figures = json.loads(file.read_text())
    return found


def combine_figures(parts: Sequence[Figures]) -> Figures:
    """What several runs say of one arm: each has ways of its own, and costs add up."""
    metrics = {name: number for part in parts for name, number in part.items()}
    return metrics | {"cpu_seconds": sum(part["cpu_seconds"] for part in parts)}


@dataclass(frozen=True)
class Trial:
    """Everything that is run with one seed."""

    out: Path
    seed: int
    sizes: tuple[int, ...]
    exam: int
    """Attempts by each way that are only asked about."""
    value_updates: int
    """At most so many; a critic is done before, when it gets no better."""
    updates: int
    """Of PPO."""

    @property
    def start(self) -> Path:
        """The policy that every arm begins with. It knows two of four colours and calls the tool now and then."""
        folder = self.out / "start"
        return folder if folder.exists() else create_warm_start(folder, seed=self.seed, with_tool=True)

    def explained(self, size: int, arm: str) -> Figures:
        """What the critics of an arm explain of unseen attempts by each way."""
        return combine_figures(
            [cached_figures(self._critic(size, ways), partial(self._valued, size, ways)) for ways in CRITICS[arm]]
        )

    def succeeded(self, arm: str) -> Figures:
        """How often the policies of an arm succeed by each way, in the end and over all updates of PPO."""
        return combine_figures(
            [cached_figures(self._run(arm, ways), partial(self._improved, arm, ways)) for ways in ARMS[arm]]
        )

    def _critic(self, size: int, ways: Ways) -> Path:
        return self.out / f"value-{size}-{'-'.join(ways)}"

    def _run(self, arm: str, ways: Ways) -> Path:
        return self.out / f"ppo-{list(ARMS).index(arm)}-{'-'.join(ways)}"

    def _valued(self, size: int, ways: Ways) -> Figures:
        folder = self._critic(size, ways)
        tasks = range(size // len(INTERFACES))
        config = value.Config(
            **SETTINGS,
            checkpoint=self.start,
            out=folder / "run",
            folders=tuple(self._attempts(self.start, self.out / f"lessons-{size}-{way}", tasks, way) for way in ways),
            sequences=2 * len(ways),
            learning_rate=1e-3,
            updates=self.value_updates,
            keep_every=self.value_updates,
            held_out=0.25,
            rise=0.005,
            seed=self.seed,
        )
        last = value.run(config)
        shutil.copytree(last, folder / "critic", dirs_exist_ok=True)
        critic, measured = load_critic(last), {f"updates/{'+'.join(ways)}": float(last.name.rpartition("-")[2])}
        for way in ways:
            examples = value.build_value_examples(self._read(self.start, self.out / f"exam-{way}", way))
            measured[way] = value.measure_explained_variance(critic, examples, config.tokens)
        return measured

    def _improved(self, arm: str, ways: Ways) -> Figures:
        folder, size = self._run(arm, ways), max(self.sizes)
        apart = arm == "one policy, a critic for each"
        sources = {way: self._critic(size, (way,)) for way in ways} if apart else {"": self._critic(size, ways)}
        for name, source in sources.items():
            shutil.copytree(source / "critic", folder / "critic" / name, dirs_exist_ok=True)
        settings = {
            **SETTINGS,
            "checkpoint": self.start,
            "out": folder / "run",
            "inbox": folder / "inbox",
            "world": WORLDS[ways],
            "critic": folder / "critic",
            "critics": "apart" if apart else "shared",
            "updates": self.updates,
            "attempts": 16 * len(ways),
            "sequences": 2 * len(ways),
            "epochs": 2,
            "learning_rate": 2e-3,
            "critic_learning_rate": 1e-3,
            "alpha": 0.5,
            "seed": 1 + self.seed,
        }
        last = ppo.run(ppo.Config.model_validate(settings), LightsSource())
        lines = [json.loads(line) for line in (folder / "run" / "log.jsonl").read_text().splitlines()]
        figures = {}
        for way in ways:
            name = f"success/{way}" if len(ways) > 1 else "success"
            figures[f"all/{way}"] = statistics.mean(line[name] for line in lines)
            made = open_folder(self._examined(last, folder / f"exam-{way}", way)).trajectories()
            figures[way] = statistics.mean(one.outcome == "success" for one in made)
        return figures

    def _read(self, checkpoint: Path, target: Path, way: Interface) -> list[Attempt]:
        """The same as samples; what a reply holds a picture's token in cannot be read and is left out."""
        folder = self._examined(checkpoint, target, way)
        config = value.Config(**SETTINGS, checkpoint=checkpoint, out=self.out, folders=(folder,))
        return value.read_attempts_for_value(config, load_checkpoint(checkpoint))

    def _examined(self, checkpoint: Path, target: Path, way: Interface) -> Path:
        """Attempts at tasks that nothing was learned from."""
        return self._attempts(checkpoint, target, range(EXAM, EXAM + self.exam), way)

    def _attempts(self, checkpoint: Path, target: Path, tasks: range, way: Interface) -> Path:
        by = PolicyRef(name="toy", revision=checkpoint.name, dialect=DIALECT)
        return create_attempts(checkpoint, target, tasks, by=by, temperature=1.0, with_tool=way == "functions")


def format_mean_and_range(numbers: Sequence[float]) -> str:
    """Their mean and range."""
    return f"{statistics.mean(numbers):.3f} ({min(numbers):.3f} to {max(numbers):.3f})"


def table(found: Mapping[str, Sequence[Figures]], columns: Sequence[str]) -> str:
    """A line an arm: mean and range of each column over the seeds, and what a seed took."""
    lines = [f"| | seeds | {' | '.join(columns)} | CPU seconds a seed |", "|---" * (len(columns) + 3) + "|"]
    for name, runs in found.items():
        cells = [format_mean_and_range([run[column] for run in runs]) for column in columns]
        cost = statistics.mean(run["cpu_seconds"] for run in runs)
        lines.append(f"| {name} | {len(runs)} | {' | '.join(cells)} | {cost:.0f} |")
    return "\n".join(lines)


def compare_arms(one: Sequence[Figures], other: Sequence[Figures], columns: Sequence[str]) -> str:
    """What the first has more than the other, seed by seed."""
    found = {name: [a[name] - b[name] for a, b in zip(one, other, strict=True)] for name in columns}
    summaries = [
        f"{name} {format_mean_and_range(each)}, more in {sum(x > 0 for x in each)} of {len(each)}"
        for name, each in found.items()
    ]
    return "; ".join(summaries)


def main(arguments: list[str] | None = None) -> int:
    """Run what is not done yet, seed after seed, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m trainer.toy.hybrid", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--exam", type=int, default=256, help="unseen attempts by each way")
    parser.add_argument("--value-updates", type=int, default=80, help="at most so many")
    parser.add_argument("--updates", type=int, default=16, help="of PPO")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    values: dict[str, list[Figures]] = {f"{size}, {arm}": [] for size in options.sizes for arm in CRITICS}
    ends: dict[str, list[Figures]] = {arm: [] for arm in ARMS}
    for seed in range(options.seeds):
        out = options.out / str(seed)
        out.mkdir(parents=True, exist_ok=True)
        trial = Trial(out, seed, tuple(options.sizes), options.exam, options.value_updates, options.updates)
        for size in options.sizes:
            for arm in CRITICS:
                values[f"{size}, {arm}"].append(trial.explained(size, arm))
                print(f"seed {seed}, {size}, {arm}: {values[f'{size}, {arm}'][-1]}", file=sys.stderr, flush=True)
        for arm in ARMS:
            ends[arm].append(trial.succeeded(arm))
            print(f"seed {seed}, {arm}: {ends[arm][-1]}", file=sys.stderr, flush=True)
    print(table(values, INTERFACES))
    for size in options.sizes:
        one, each = (values[f"{size}, {arm}"] for arm in CRITICS)
        print(f"{size}, one critic more than one for each: {compare_arms(one, each, INTERFACES)}")
    columns = (*INTERFACES, *(f"all/{way}" for way in INTERFACES))
    print(table(ends, columns))
    one, *others = ends.values()
    for arm, other in zip([*ARMS][1:], others, strict=True):
        print(f"one policy, one critic, more than {arm}: {compare_arms(one, other, columns)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
