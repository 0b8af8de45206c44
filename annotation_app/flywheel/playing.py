"""Reinforcement on the bridge's machines: the newest weights play, the trainer learns from it, update by update."""

import json
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from annotation_app.flywheel.programs import ProgramFailed, Programs, last_line, platform_python
from annotation_app.flywheel.recipe import Played, Serving
from annotation_app.flywheel.serving import Answering, served, weights_give

TAKEN = ".taken"
"""Where the trainer's inbox has what was learned from."""
ROUNDS = 4
"""How often an update plays again, at further pages, where attempts were lost with their machines."""


@dataclass(frozen=True)
class Player:
    """Who plays what. `run` is the trainer's folder of checkpoints, `inbox` the one it takes attempts from."""

    play: Played
    tasks: tuple[str, ...]
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
    serving: Serving | None = None
    """The server that answers; none: one that is begun for it."""

    @property
    def attempts(self) -> int:
        """Of an update."""
        return len(self.tasks) * self.play.seeds * self.play.group

    def seed(self, update: int, again: int) -> int:
        """Where the pages of an update begin: turns and updates go through all there are, one after the other."""
        number = (self.turn - 1) * self.updates + update + again
        return self.play.first_seed + number * self.play.seeds % self.play.pages

    def words(self, server: Answering, update: int, again: int, out: Path) -> list[str]:
        """The command whose attempts the weights of an update make."""
        play = self.play
        what = [word for task in self.tasks for word in ("--task", task)]
        what += ["--size", play.size] if play.size else []
        what += ["--memory", json.dumps(self.memory)] if self.memory else []
        return [
            *(platform_python(), "-m", "agent_backend.rollout", "--bridge", self.bridge, "--suite", play.suite, *what),
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
            *("--dialect", self.dialect, "--revision", version_of(update), "--out", str(out)),
        ]


def version_of(update: int) -> str:
    """What weights are called after so many updates."""
    return f"update-{update:06}"


def reinforced(programs: Programs, learn: Sequence[str], player: Player, *, threads: int, log: Path) -> str:
    """What the trainer says at its end, all its updates learned; ended at any moment and begun again it goes on.

    Raises ProgramFailed, Halted.
    """
    with programs.beside(learn, log=log) as trainer:
        begun = _newest(player.run)
        _kept(programs, trainer, player, begun, log)
        weights = player.run / version_of(begun)
        serving = log.with_name("rl.serve.log")
        with served(
            programs, weights, name=player.policy, version=version_of(begun), threads=threads, log=serving,
            serving=player.serving, changes=True,
        ) as server:  # fmt: skip
            for update in range(begun, player.updates):
                if update > begun:
                    newer, version = player.run / version_of(update), version_of(update)
                    weights_give(programs, server.url, newer, version, log=log.with_name("rl.reload.log"))
                _play(programs, player, server, update, log)
                _kept(programs, trainer, player, update + 1, log)
        programs.until(trainer, lambda: trainer.poll() is not None, log=log)
    return last_line(log)


def _play(programs: Programs, player: Player, server: Answering, update: int, log: Path) -> None:
    """As many attempts as an update takes. A folder that is there was played before the turn broke off."""
    made = 0
    for again in range(ROUNDS):
        for number in range(player.play.group):
            name = f"{version_of(update)}-{again}-{number}"
            if not (player.inbox / name).exists():
                programs.run(player.words(server, update, again, player.inbox / name), log=log.with_name("rl.play.log"))
            made += _trajectories(player.inbox, name)
        if made >= player.attempts:
            return
    raise ProgramFailed(f"{made} of {player.attempts} attempts of an update could be made: machines fail")


def _trajectories(inbox: Path, name: str) -> int:
    """How many a folder has, which the trainer may have taken meanwhile."""
    for folder in (inbox / name, inbox / TAKEN / name):
        with suppress(FileNotFoundError):
            return int(json.loads((folder / "manifest.json").read_text())["counts"]["trajectories"])
    return 0


def _kept(programs: Programs, trainer: "subprocess.Popen[bytes]", player: Player, update: int, log: Path) -> None:
    """Returns when the checkpoint of this update is there."""
    folder = player.run / version_of(update)
    programs.until(trainer, folder.exists, log=log)
    if not folder.exists():
        raise ProgramFailed(f"The trainer ended before its update {update}: {last_line(log)}")


def _newest(run: Path) -> int:
    """How many updates were learned before."""
    return max((int(folder.name.removeprefix("update-")) for folder in run.glob("update-??????")), default=0)
