"""Reinforcement of the nano policy on live pages: `./pilothouse bench reinforcement OUT --task identify-shape …`.

PPO on each task, and GRPO beside it on one, from the same start, on the same pages, with as many attempts; or one run
on all tasks together (`--together grpo`). Attempts are drawn in this process with the weights that `trainer.serve` has,
and learned from by `trainer ppo` or `trainer grpo` beside it. The same command resumes an interrupted run: attempts
that were made are kept, updates that were learned stay, runs that are done are only read. One JSON object is the last
line.
"""

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from agent_backend.trajectory_folders import read_trajectories
from annotation_app.operations.console import Console
from annotation_app.operations.install.extra_environments import ensure_trainer
from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.figures import describe_machine, print_progress
from benchmarks.parts.reinforcement.plan import (
    Ledger,
    LedgerLocked,
    Plan,
    PlanMismatch,
    Run,
    render_table,
    sign_test_p_value,
    summarize_attempts,
)
from benchmarks.parts.reinforcement.player import END_WITH_PARENT, START, Player, run_player
from vm_bridge.isolation.resource_usage import measure_usage

TASKS = ("click-color", "identify-shape", "click-option")
TRAINER: dict[str, JsonValue] = {"learning_rate": 1e-4, "warmup": 4, "tokens": 2048, "sequences": 3}
"""About three steps an update, over four million weights: at four times the rate one moved a policy by 0.2 (KL)."""
PPO: dict[str, JsonValue] = {"value_updates": 2, "critic_learning_rate": 5e-4, "alpha": 2.0}
"""Replies of eight tokens: with `alpha` 2 credit reaches back over all of them."""
HEADS = "heads.pt"
LEARNED_FOLDER = ".taken"
"""Where the trainer's inbox keeps what was learned from."""
LEARNING, LOOK_EVERY = 1800.0, 0.2
"""How long an update may take on a machine with much else to do, and how often it is looked at (seconds)."""


class TrainerFailed(Exception):
    """The trainer ended, or made no checkpoint in time; the message has the end of its log."""


class Trainer:
    """A run's process of the trainer; it is started with the same words every time."""

    def __init__(self, python: Path, folder: Path, algorithm: str, settings: dict[str, JsonValue]) -> None:
        self.out, self._log = Path(str(settings["out"])), folder / "trainer.log"
        (folder / "settings.json").write_text(json.dumps(settings, indent=1))
        command = [*END_WITH_PARENT, python, "-m", "trainer", algorithm, "--config", folder / "settings.json"]
        environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, cwd=ROOT, env=environment)

    async def wait_for_checkpoint(self, update: int) -> Path:
        """The checkpoint of this update, as soon as it is there. Raises TrainerFailed."""
        folder = self.out / f"update-{update:06}"
        try:
            async with asyncio.timeout(LEARNING):
                while not folder.exists():
                    if self._process.poll() is not None and not folder.exists():
                        raise TrainerFailed(self._log.read_text()[-3000:])
                    await asyncio.sleep(LOOK_EVERY)
        except TimeoutError:
            raise TrainerFailed(f"no {folder.name} in time: {self._log.read_text()[-3000:]}") from None
        return folder

    @property
    def cpu_seconds(self) -> float:
        """What it has cost so far."""
        return cpu_seconds(self._process.pid)

    def end(self) -> None:
        """It may be killed at any moment."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()


@dataclass(frozen=True)
class CpuUsage:
    """Processor seconds so far."""

    all: float
    """Of this process and all it started that still run: the player, browsers, the server, the trainer."""
    trainer: float


class Experiment:
    """Every run of a plan, one after the other."""

    def __init__(self, ledger: Ledger, start: Path, python: Path, player: Player) -> None:
        self._ledger, self._plan, self._start, self._python = ledger, ledger.plan, start, python
        self._player = player

    async def all(self) -> None:
        """What is not done yet. Raises TrainerFailed, PagesFailed, PolicyError."""
        for task in self._plan.tasks:
            if task not in self._ledger.before():
                await self._player.weights(self._start, "start")
                wins = await self._solved_pages(task, "start")
                self._ledger.record_start(task, wins)
                print_progress(f"{task}, before: {sum(wins)} of {len(wins)}")
        for run in self._plan.runs:
            if self._ledger.figures(run) is None:
                await self._run(run)
            print_progress(f"{run.name}: {self._ledger.figures(run)}")

    async def _run(self, run: Run) -> None:
        folder = self._ledger.of(run)
        out, inbox = folder / "run", folder / "inbox"
        settings = self._plan.settings(run, start=self._start, out=out, inbox=inbox)
        counted = CpuUsage(cpu_seconds(), 0.0)
        async with run_trainer(self._python, folder, run.algorithm, settings) as trainer:
            begin = max((int(one.name.removeprefix("update-")) for one in out.glob("update-??????")), default=0)
            noted = {line["update"] for line in self._ledger.updates(run)}
            for update in (one for one in range(begin) if one + 1 not in noted):
                # it was ended between learning and noting; the cost is not known
                self._ledger.record_update(run, self._summarize_update(run, out, update) | {"cpu_seconds": {}})
            for update in range(begin, self._plan.updates):
                counted = await self._update(run, trainer, await trainer.wait_for_checkpoint(update), update, counted)
            newest = await trainer.wait_for_checkpoint(self._plan.updates)
        await self._player.weights(newest, newest.name)
        self._ledger.done(run, {task: await self._solved_pages(task, newest.name) for task in run.tasks})
        bundle_checkpoint(self._python, newest, self._start, folder / "policy")

    async def _update(self, run: Run, trainer: Trainer, weights: Path, update: int, before: CpuUsage) -> CpuUsage:
        """Attempts with the weights of this update, and what is learned from them."""
        target = self._ledger.of(run) / "inbox" / weights.name
        if not target.exists():
            await self._player.weights(weights, weights.name)
            tasks = self._player.tasks(self._plan.sample(run, update))
            await self._player.sample(target, tasks, weights.name, self._plan.temperature)
        await trainer.wait_for_checkpoint(update + 1)
        now = CpuUsage(cpu_seconds(), trainer.cpu_seconds)
        learned = now.trainer - before.trainer
        cost = {"learn": round(learned, 2), "play": round(now.all - before.all - learned, 2)}
        figures = self._summarize_update(run, trainer.out, update)
        self._ledger.record_update(run, figures | {"cpu_seconds": cost})
        print_progress(
            f"{run.name}, update {update + 1}: {figures['success']:.2f} of {figures['attempts']} drawn, {cost}"
        )
        return now

    def _summarize_update(self, run: Run, out: Path, update: int) -> dict[str, Any]:
        """What an update learned from: the trainer's own figures, and those of each task."""
        taken = self._ledger.of(run) / "inbox" / LEARNED_FOLDER / f"update-{update:06}"
        return read_update_log(out, update + 1) | {
            "tasks": summarize_attempts(one for _, one in read_trajectories([taken]))
        }

    async def _solved_pages(self, task: str, version: str) -> list[bool]:
        pages = [(task, seed) for seed in self._plan.evaluated()]
        return await self._player.won(self._player.tasks(pages), version)


@asynccontextmanager
async def run_trainer(
    python: Path, folder: Path, algorithm: str, settings: dict[str, JsonValue]
) -> AsyncIterator[Trainer]:
    """A trainer at work while the block runs."""
    trainer = Trainer(python, folder, algorithm, settings)
    try:
        yield trainer
    finally:
        await asyncio.to_thread(trainer.end)


def cpu_seconds(root: int | None = None) -> float:
    """What a process and those it started have cost; by default this one."""
    return measure_usage(root or os.getpid()).cpu_seconds


def read_update_log(out: Path, update: int) -> dict[str, Any]:
    """The trainer's own figures of an update; they are written before its checkpoint."""
    lines = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    found: dict[str, Any] = next(line for line in lines if line["update"] == update)
    return found


def bundle_checkpoint(python: Path, checkpoint: Path, start: Path, folder: Path) -> None:
    """The policy as the repository keeps one, with the heads of its start: they did not learn, and can go on."""
    if (start / HEADS).is_file():
        shutil.copy(start / HEADS, checkpoint / HEADS)
    command: list[str | Path] = [python, "-m", "trainer.nano", "bundle", checkpoint, folder]
    subprocess.run(command, check=True, cwd=ROOT, stdout=sys.stderr)


def parse_arguments(options: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="./pilothouse bench reinforcement", description=__doc__)
    parser.add_argument("out", type=Path, help="the ledger's folder; what is in it is gone on with")
    parser.add_argument("--start", type=Path, default=START, help="the policy; default: the bundled one")
    parser.add_argument("--task", action="append", help="PPO learns it: click-color, sites/login; may be given again")
    parser.add_argument("--compare", help="the task that GRPO learns too")
    parser.add_argument("--together", choices=("ppo", "grpo"), help="one run learns all tasks, by this algorithm")
    parser.add_argument("--seed", type=int, action="append", help="a run of each; may be given again; default: 0")
    parser.add_argument("--updates", type=int, default=12)
    parser.add_argument("--pages", type=int, default=8, help="of an update")
    parser.add_argument("--group", type=int, default=4, help="attempts at each page")
    parser.add_argument("--acts", type=int, help="of an attempt, at most; default: as `bench nano` has it")
    parser.add_argument("--held-out", type=int, default=60, help="pages of the evaluation, a task")
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--parallel", type=int, default=6, help="pages at a time")
    parser.add_argument("--set", action="append", default=[], help="a setting of the trainer, FIELD=JSON")
    parser.add_argument("--set-ppo", action="append", default=[], help="one of PPO alone")
    return parser.parse_args(options)


def build_plan(options: argparse.Namespace) -> Plan:
    """Seed by seed, so that what was done first is of all tasks."""
    seeds = dict.fromkeys(options.seed or [0])
    tasks = tuple(dict.fromkeys(options.task or TASKS))
    if options.together:
        runs = [Run(tasks=tasks, algorithm=options.together, seed=seed) for seed in seeds]
    else:
        runs = [
            Run(tasks=(task,), algorithm=algorithm, seed=seed)
            for seed in seeds
            for task in dict.fromkeys([*([options.compare] if options.compare else []), *tasks])
            for algorithm in (("ppo", "grpo") if task == options.compare else ("ppo",))
        ]
    return Plan(
        runs=tuple(runs),
        updates=options.updates,
        pages=options.pages,
        group=options.group,
        acts=options.acts,
        held_out=options.held_out,
        temperature=options.temperature,
        trainer=TRAINER | format_settings(options.set),
        ppo=PPO | format_settings(options.set_ppo),
    )


def format_settings(words: Sequence[str]) -> dict[str, JsonValue]:
    """Settings as they are written."""
    return {name: json.loads(value) for name, _, value in (word.partition("=") for word in words)}


async def run_experiment(ledger: Ledger, start: Path, parallel: int) -> None:
    """All of it, with a server and browsers for as long as it lasts."""
    python = ensure_trainer(Console())
    async with run_player(start, ledger.folder, parallel, ledger.plan.acts) as player:
        await Experiment(ledger, start, python, player).all()


def main() -> None:
    options = parse_arguments()
    try:
        ledger = Ledger(options.out.resolve(), build_plan(options))
    except PlanMismatch as error:
        sys.exit(f"other_plan: {error}")
    try:
        with ledger.locked():
            asyncio.run(run_experiment(ledger, options.start.resolve(), options.parallel))
    except LedgerLocked as error:
        sys.exit(f"ledger_busy: {error}")
    print(render_table(ledger), file=sys.stderr)
    print(json.dumps({"benchmark": "reinforcement", "runs": run_summaries(ledger), "machine": describe_machine()}))


def run_summaries(ledger: Ledger) -> dict[str, Any]:
    """Of each run, what it came from and what it came to."""
    found = ((run, ledger.figures(run)) for run in ledger.plan.runs)
    return {
        run.name: {"before": before, "after": after, "by_chance": sign_test_p_value(before, after)}
        for run, after in found
        if after is not None
        for before in [ledger.start_of_run(run)]
    }


if __name__ == "__main__":
    main()
