"""Reinforcement on the bridge's machines: attempts by the newest weights stream into the trainer while it learns."""

import json
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from annotation_app.flywheel.model_servers import ModelEndpoint, classified_failure, serve_weights
from annotation_app.flywheel.programs import ProgramFailed, ProgramRunner, last_line, platform_python
from annotation_app.flywheel.recipe import RolloutSettings, ServingSettings
from protocol.dialects.prompt_template import PromptTemplate
from protocol.training.checkpoints import newest_checkpoint
from protocol.training.inbox import REASONS_FILE, REJECTED_FOLDER, SHORTAGE_FILE
from protocol.trajectory.tasks import kind_level

TRAINER_TIMEOUT_SECONDS = 30 * 86_400
"""Seconds that the trainer waits for attempts. The player knows whether any will come; its failure ends the trainer."""


@dataclass(frozen=True)
class RolloutPlan:
    """Which model plays what. `run` is the trainer's folder of checkpoints, `inbox` the folder from which it reads
    attempts."""

    play: RolloutSettings
    tasks: tuple[str, ...]
    """Kinds of the suite's tasks, or ids of tasks of `source`."""
    bridge: str
    policy: str
    dialect: str
    memory: dict[str, object]
    temperature: float
    """Sampling temperature that the trainer assumes for replies."""
    turn: int
    updates: int
    run: Path
    inbox: Path
    prompt: PromptTemplate | None = None
    """Prompt in place of the dialect's own."""
    serving: ServingSettings | None = None
    """The server to use; none: one is started for it."""
    source: Path | None = None
    """A file with the tasks of a pool, in place of the suite."""
    image: str = ""
    """The image of the pool's machines."""
    judges: Path | None = None
    """A file with the judges that decide rewards for tasks without a verifier."""

    @property
    def attempts(self) -> int:
        """Number of attempts in an update."""
        return len(self.tasks) * self.play.seeds * self.play.group

    @property
    def trainer_settings(self) -> dict[str, JsonValue]:
        """Settings of the trainer for this plan."""
        return {"attempts": self.attempts, "patience": TRAINER_TIMEOUT_SECONDS}

    @property
    def start_at(self) -> int:
        """The page at which a cycle begins. Cycles and updates iterate over all pages in order."""
        return (self.turn - 1) * self.updates * self.play.seeds % self.play.pages

    def _task_words(self) -> list[str]:
        if self.source is not None:
            return ["--tasks", str(self.source), "--image", self.image]
        levels = sorted({kind_level(kind) for kind in self.tasks})
        words = ["--suite", self.play.suite, *(word for level in levels for word in ("--level", str(level)))]
        return words + [word for kind in self.tasks for word in ("--kind", kind)]

    def command(self, server: ModelEndpoint) -> list[str]:
        """The command that plays on this server until the last update is learned. When rerun, it resumes."""
        play = self.play
        what = self._task_words()
        what += ["--size", play.size] if play.size else []
        what += ["--memory", json.dumps(self.memory)] if self.memory else []
        what += ["--judges", str(self.judges)] if self.judges else []
        what += ["--prompt", self.prompt.model_dump_json()] if self.prompt else []
        stream = {
            "--stream": self.run,
            "--out": self.inbox,
            "--first-seed": play.first_seed,
            "--seeds": play.pages,
            "--start-at": self.start_at,
            "--group": play.group,
            "--attempts": self.attempts,
            "--ahead": play.ahead,
            "--updates": self.updates,
            "--parallel": play.parallel,
            "--temperature": f"{self.temperature:g}",
            "--model-url": server.url,
            "--model": server.model,
            "--policy": self.policy,
            "--dialect": self.dialect,
            "--revision": f"turn-{self.turn}",  # the server reports which weights sampled each token
        }
        words = [str(word) for option in stream.items() for word in option]
        return [platform_python(), "-m", "agent_backend.rollout", "--bridge", self.bridge, *what, *words]


def train_on_rollouts(
    programs: ProgramRunner, learn: Sequence[str], plan: RolloutPlan, *, threads: int, log: Path
) -> str:
    """Run the training with its rollouts, and return the trainer's last line. After an interruption, a rerun resumes.

    Raises ProgramFailed, TurnCancelled.
    """
    (plan.inbox / SHORTAGE_FILE).unlink(missing_ok=True)  # of a trainer that was killed
    with programs.background(learn, log=log) as trainer:
        programs.wait_until(trainer, lambda: newest_checkpoint(plan.run) is not None, log=log)
        weights = newest_checkpoint(plan.run)
        if weights is None:
            raise ProgramFailed(f"The trainer ended before its first checkpoint: {last_line(log)}")
        with serve_weights(
            programs, weights, name=plan.policy, version=weights.name, threads=threads,
            log=log.with_name("rl.serve.log"), serving=plan.serving, changes=True,
        ) as server:  # fmt: skip
            _play_until_learned(programs, trainer, plan.command(server), plan, log)
        programs.wait_until(trainer, lambda: False, log=log)
    return last_line(log)


def _play_until_learned(
    programs: ProgramRunner, trainer: "subprocess.Popen[bytes]", command: Sequence[str], plan: RolloutPlan, log: Path
) -> None:
    """Stream attempts to the trainer until the player or the trainer ends. Raises ProgramFailed, TurnCancelled."""
    play_log = log.with_name("rl.play.log")
    with programs.background(command, log=play_log) as stream:
        programs.wait_until(trainer, lambda: stream.poll() is not None, log=log)
        if stream.poll() is None:
            return
        try:
            programs.wait_until(stream, lambda: False, log=play_log)
        except ProgramFailed as failed:
            if plan.serving is None:
                raise
            raise classified_failure(failed, f"The model server at {plan.serving.url}", play_log) from None


def count_refused(inbox: Path) -> dict[str, int]:
    """How many attempts the trainer rejected, by error code."""
    refused = Counter[str]()
    for reasons in (inbox / REJECTED_FOLDER).glob(f"*/{REASONS_FILE}"):
        refused.update(json.loads(reasons.read_text()))
    return dict(refused)
