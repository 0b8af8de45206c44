"""Reinforcement on the bridge's machines: the newest weights play, the trainer learns from it, update by update."""

import itertools
import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from annotation_app.flywheel.programs import ProgramFailed, Programs, last_line, platform_python
from annotation_app.flywheel.recipe import Played, Serving
from annotation_app.flywheel.serving import Answering, served, weights_give
from vocabulary.inboxes import REFUSED, SHORT, TAKEN, Short

ROUNDS = 4
"""How often an update plays, each time at further pages, where attempts were lost with their machines or the trainer
cannot use them. A turn that is told to go on plays so often again."""
PATIENCE = 30 * 86_400
"""Seconds that the trainer waits for attempts of which this process knows whether they come; it ends the trainer."""


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

    @property
    def told(self) -> dict[str, JsonValue]:
        """What the trainer needs to know of it."""
        return {"attempts": self.attempts, "patience": PATIENCE}

    def folders(self, update: int, again: int) -> tuple[str, ...]:
        """The names of those of one round."""
        return tuple(f"{version_of(update)}-{again}-{number}" for number in range(self.play.group))

    def has(self, name: str) -> bool:
        """Whether this folder was played, whatever the trainer made of it."""
        return any((self.inbox / where / name).exists() for where in ("", TAKEN, REFUSED))

    def short(self, names: Sequence[str]) -> Short | None:
        """What the trainer says of its attempts, if it has seen these folders and has too few."""
        try:
            told = Short.model_validate_json((self.inbox / SHORT).read_bytes())
        except FileNotFoundError:
            return None
        unseen = set(names).difference(told.folders)
        return None if any((self.inbox / name).exists() for name in unseen) else told

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
    (player.inbox / SHORT).unlink(missing_ok=True)  # of a trainer that was killed
    with programs.beside(learn, log=log) as trainer:
        begun = _newest(player.run)
        _until(programs, trainer, player, begun, (), log)
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
                _learn(programs, trainer, player, server, update, log)
        programs.until(trainer, lambda: trainer.poll() is not None, log=log)
    return last_line(log)


def _learn(
    programs: Programs, trainer: "subprocess.Popen[bytes]", player: Player, server: Answering, update: int, log: Path
) -> None:
    """Play for an update, and again while the trainer says that it has too few attempts, until it has learned."""
    names: list[str] = []
    played = 0
    for again in itertools.count():
        folders = player.folders(update, again)
        # A folder that is there was played before the turn broke off.
        for name in (missing := [name for name in folders if not player.has(name)]):
            words = player.words(server, update, again, player.inbox / name)
            programs.run(words, log=log.with_name("rl.play.log"))
        names += folders
        played += bool(missing)
        short = _until(programs, trainer, player, update + 1, names, log)
        if short is None:
            return
        if played >= ROUNDS:
            refused = ", ".join(f"{code} {count}" for code, count in sorted(short.refused.items()))
            raise ProgramFailed(
                f"Only {short.usable} of {short.wanted} attempts of an update can be learned from after {played} rounds"
                f" of play. The trainer refused {refused or 'none of what came: machines fail'}."
            )


def _until(
    programs: Programs, trainer: "subprocess.Popen[bytes]", player: Player, update: int, names: Sequence[str], log: Path
) -> Short | None:
    """Returns when the checkpoint of this update is there, or when the trainer has seen these folders and says what it
    is short of."""
    folder = player.run / version_of(update)
    short: Short | None = None

    def settled() -> bool:
        nonlocal short
        short = player.short(names)
        return short is not None or folder.exists()

    programs.until(trainer, settled, log=log)
    if folder.exists():
        return None
    if short is None:
        raise ProgramFailed(f"The trainer ended before its update {update}: {last_line(log)}")
    return short


def _newest(run: Path) -> int:
    """How many updates were learned before."""
    return max((int(folder.name.removeprefix("update-")) for folder in run.glob("update-??????")), default=0)
