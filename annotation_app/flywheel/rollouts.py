"""Reinforcement on the bridge's machines: the newest weights play, the trainer learns from it, update by update."""

import itertools
import json
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue

from annotation_app.flywheel.model_servers import ModelEndpoint, serve_weights, weights_load
from annotation_app.flywheel.programs import ProgramFailed, ProgramRunner, last_line, platform_python
from annotation_app.flywheel.recipe import RolloutSettings, ServingSettings
from protocol.dialects.prompt_template import PromptTemplate
from protocol.training.inbox import PROCESSED_FOLDER, REJECTED_FOLDER, SHORTAGE_FILE, AttemptShortage

MAX_ROUNDS = 4
"""How often an update plays, each time at further pages, where attempts were lost with their machines or the trainer
cannot use them. A turn that is told to go on plays so often again."""
TRAINER_TIMEOUT_SECONDS = 30 * 86_400
"""Seconds that the trainer waits for attempts of which this process knows whether they come; it ends the trainer."""


@dataclass(frozen=True)
class RolloutPlan:
    """Who plays what. `run` is the trainer's folder of checkpoints, `inbox` the one it takes attempts from."""

    play: RolloutSettings
    tasks: tuple[str, ...]
    """Names of the suite's tasks, or ids of those of `source`."""
    bridge: str
    policy: str
    dialect: str
    memory: dict[str, object]
    temperature: float
    """At which the trainer says that replies are drawn."""
    turn: int
    updates: int
    run: Path
    inbox: Path
    prompt: PromptTemplate | None = None
    """In place of the dialect's own."""
    serving: ServingSettings | None = None
    """The server that answers; none: one that is begun for it."""
    source: Path | None = None
    """A file with the tasks of a pool, in place of the suite."""
    image: str = ""
    """The pool's machines."""
    judges: Path | None = None
    """A file with the judges that decide rewards where there is no verifier."""

    @property
    def attempts(self) -> int:
        """Of an update."""
        return len(self.tasks) * self.play.seeds * self.play.group

    @property
    def trainer_settings(self) -> dict[str, JsonValue]:
        """What the trainer needs to know of it."""
        return {"attempts": self.attempts, "patience": TRAINER_TIMEOUT_SECONDS}

    def folders(self, update: int, again: int) -> tuple[str, ...]:
        """The names of those of one round."""
        return tuple(f"{weight_version(update)}-{again}-{number}" for number in range(self.play.group))

    def has(self, name: str) -> bool:
        """Whether this folder was played, whatever the trainer made of it."""
        return any((self.inbox / where / name).exists() for where in ("", PROCESSED_FOLDER, REJECTED_FOLDER))

    def short(self, names: Sequence[str]) -> AttemptShortage | None:
        """What the trainer says of its attempts, if it has seen these folders and has too few."""
        try:
            trainer_settings = AttemptShortage.model_validate_json((self.inbox / SHORTAGE_FILE).read_bytes())
        except FileNotFoundError:
            return None
        unseen = set(names).difference(trainer_settings.folders)
        return None if any((self.inbox / name).exists() for name in unseen) else trainer_settings

    def seed(self, update: int, again: int) -> int:
        """Where the pages of an update begin: turns and updates go through all there are, one after the other."""
        number = (self.turn - 1) * self.updates + update + again
        return self.play.first_seed + number * self.play.seeds % self.play.pages

    def _task_words(self) -> list[str]:
        if self.source is not None:
            return ["--tasks", str(self.source), "--image", self.image]
        return ["--suite", self.play.suite, *(word for task in self.tasks for word in ("--task", task))]

    def command(self, server: ModelEndpoint, update: int, again: int, out: Path, version: str) -> list[str]:
        """The command whose attempts are for an update; `version` are the weights that the server has."""
        play = self.play
        what = self._task_words()
        what += ["--size", play.size] if play.size else []
        what += ["--memory", json.dumps(self.memory)] if self.memory else []
        what += ["--judges", str(self.judges)] if self.judges else []
        what += ["--prompt", self.prompt.model_dump_json()] if self.prompt else []
        return [
            *(platform_python(), "-m", "agent_backend.rollout", "--bridge", self.bridge, *what),
            *("--first-seed", str(self.seed(update, again)), "--seeds", str(play.seeds)),
            *(
                "--parallel",
                str(play.parallel),
                "--temperature",
                f"{self.temperature:g}",
                "--model-url",
                server.url,
                "--model",
                server.model,
            ),
            *("--policy", self.policy),
            *("--dialect", self.dialect, "--revision", version, "--out", str(out)),
        ]


def weight_version(update: int) -> str:
    """What weights are called after so many updates."""
    return f"update-{update:06}"


def train_on_rollouts(
    programs: ProgramRunner, learn: Sequence[str], rollout_plan: RolloutPlan, *, threads: int, log: Path
) -> str:
    """What the trainer says at its end, all its updates learned; ended at any moment and begun again it goes on.

    Raises ProgramFailed, TurnCancelled.
    """
    (rollout_plan.inbox / SHORTAGE_FILE).unlink(missing_ok=True)  # of a trainer that was killed
    with programs.background(learn, log=log) as trainer:
        begun = _last_update(rollout_plan.run)
        _wait_for_update(programs, trainer, rollout_plan, begun, (), log)
        weights = rollout_plan.run / weight_version(begun)
        serving = log.with_name("rl.serve.log")
        with serve_weights(
            programs, weights, name=rollout_plan.policy, version=weight_version(begun), threads=threads, log=serving,
            serving=rollout_plan.serving, changes=True,
        ) as server:  # fmt: skip
            rollouts = Rollouts(programs, trainer, rollout_plan, server, log, loaded=begun)
            for update in range(begun, rollout_plan.updates):
                rollouts.wait_until_learned(max(begun, update - rollout_plan.play.ahead))
                rollouts.play(update)
            rollouts.wait_until_learned(rollout_plan.updates)
        programs.wait_until(trainer, lambda: trainer.poll() is not None, log=log)
    return last_line(log)


@dataclass
class Rollouts:
    """What was played so far for a trainer that runs, and by which weights."""

    programs: ProgramRunner
    trainer: "subprocess.Popen[bytes]"
    plan: RolloutPlan
    server: ModelEndpoint
    log: Path
    loaded: int
    """The update whose weights the server has."""
    _names: list[str] = field(default_factory=list)
    """Every folder that was played."""
    _rounds: "Counter[int]" = field(default_factory=Counter)
    """How often each update was played by this process."""

    def wait_until_learned(self, update: int) -> None:
        """Return when this update is learned; play again for it while the trainer says that it has too few attempts.
        Raises ProgramFailed, TurnCancelled."""
        if update <= _last_update(self.plan.run):
            return
        for again in itertools.count(1):
            short = _wait_for_update(self.programs, self.trainer, self.plan, update, self._names, self.log)
            if short is None:
                return
            if self._rounds[update - 1] >= MAX_ROUNDS:
                refused = ", ".join(f"{code} {count}" for code, count in sorted(short.refused.items()))
                raise ProgramFailed(
                    f"Only {short.usable} of {short.wanted} attempts of an update can be learned from after"
                    f" {self._rounds[update - 1]} rounds of play. The trainer refused"
                    f" {refused or 'none of what came: machines fail'}."
                )
            self.play(update - 1, again)

    def play(self, update: int, again: int = 0) -> None:
        """Play one round for an update, by the newest weights there are; what was played before the turn broke off
        is there. Raises ProgramFailed, TurnCancelled."""
        self._load_newest()
        folders = self.plan.folders(update, again)
        missing = [name for name in folders if not self.plan.has(name)]
        for name in missing:
            version = weight_version(self.loaded)
            command = self.plan.command(self.server, update, again, self.plan.inbox / name, version)
            self.programs.run(command, log=self.log.with_name("rl.play.log"))
        self._names += folders
        self._rounds[update] += bool(missing)

    def _load_newest(self) -> None:
        newest = _last_update(self.plan.run)
        if newest > self.loaded:
            weights = self.plan.run / weight_version(newest)
            log = self.log.with_name("rl.reload.log")
            weights_load(self.programs, self.server.url, weights, weight_version(newest), log=log)
            self.loaded = newest


def _wait_for_update(
    programs: ProgramRunner,
    trainer: "subprocess.Popen[bytes]",
    rollout_plan: RolloutPlan,
    update: int,
    names: Sequence[str],
    log: Path,
) -> AttemptShortage | None:
    """Returns when the checkpoint of this update is there, or when the trainer has seen these folders and says what it
    is short of."""
    folder = rollout_plan.run / weight_version(update)
    short: AttemptShortage | None = None

    def settled() -> bool:
        nonlocal short
        short = rollout_plan.short(names)
        return short is not None or folder.exists()

    programs.wait_until(trainer, settled, log=log)
    if folder.exists():
        return None
    if short is None:
        raise ProgramFailed(f"The trainer ended before its update {update}: {last_line(log)}")
    return short


def _last_update(run: Path) -> int:
    """How many updates were learned before."""
    return max((int(folder.name.removeprefix("update-")) for folder in run.glob("update-??????")), default=0)
