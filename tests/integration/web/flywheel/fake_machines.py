"""`agent_backend.rollout --stream` with machines and a model that are made up: `python -m … BEHAVIOUR RUN-WORDS…`.

Everything else is what it is: the stream, its folders, the trainer's inbox. Attempts are at the toy world's lights.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

from agent_backend.errors import AgentError, PolicyUnavailable
from agent_backend.policy.reload import ModelServerClient
from agent_backend.rollout import streaming
from agent_backend.rollout.__main__ import parse_arguments
from agent_backend.rollout.attempt_log import AttemptLog
from agent_backend.rollout.attempts import AttemptResult
from agent_backend.rollout.streaming import AttemptStream, NewestWeights
from protocol.base import FrozenModel
from protocol.trajectory.tasks import Task
from tests.waiting import eventually
from trainer.toy.episodes import LightsEpisode, PolicyReply
from trainer.toy.lights import NAMES
from vm_bridge.errors import MachineGone


class Behaviour(FrozenModel):
    """What the machines do."""

    lost: tuple[int, ...] = ()
    """Seeds whose machines always fail."""
    slow: dict[int, str] = {}
    """Attempts, by the place in which they are begun, that end only once this checkpoint is there."""
    model_gone: bool = False
    """Whether the model's server does not answer."""
    dies_at: int | None = None
    """The attempt, by that place, at which the player is killed."""


class Model(ModelServerClient):
    """Answers with whatever weights it was given."""

    def __init__(self) -> None:
        self.version = ""

    async def reload(self, weights: str, version: str, *, freeze: bool = False) -> None:
        self.version = version


class Machines:
    """Attempts at the lights, all of which succeed."""

    def __init__(self, behaviour: Behaviour, model: Model, run: Path, begun: Path) -> None:
        self._behaviour, self._model, self._run, self._begun = behaviour, model, run, begun
        self._count = 0

    async def page(self, seed: int) -> tuple[Task, ...]:
        return (Task(id=f"lights-{seed}", instruction="Point", suite="toy", name="lights", seed=seed),)

    async def attempt(self, task: Task) -> AttemptResult:
        number, version = self._count, self._model.version
        self._count += 1
        with self._begun.open("a") as begun:
            begun.write(f"{task.seed} {version}\n")
        if number == self._behaviour.dies_at:
            os.kill(os.getpid(), signal.SIGKILL)
        if self._behaviour.model_gone:
            raise PolicyUnavailable("the model server does not answer")
        if task.seed in self._behaviour.lost:
            raise MachineGone("its host was killed")
        if (checkpoint := self._behaviour.slow.get(number)) is not None:
            await eventually((self._run / checkpoint).exists, 60)
        return _played(task.seed, number, version)


def _played(seed: int, number: int, version: str) -> AttemptResult:
    play = LightsEpisode(seed, draw=number)
    while not play.is_over:
        said = PolicyReply(
            text=f" {NAMES[play.lights.lit]}", ids=(seed, 2), logprobs=(-0.1, -0.1), versions=(version,), finish="stop"
        )
        play.apply_reply((1, 2), said, 1.0)
    return AttemptResult(play.trajectory(), "", {ref.sha256: data for ref, data in play.blobs.items()})


async def play(behaviour: Behaviour, words: list[str]) -> None:
    arguments = parse_arguments(words)
    model, inbox = Model(), arguments.out
    machines = Machines(behaviour, model, arguments.stream, inbox.with_name("begun"))
    stream = AttemptStream(
        attempt_runner=machines.attempt, attempt_log=AttemptLog(inbox.with_name("attempts.jsonl")), log=print,
        plan=streaming.stream_plan(arguments), pages=machines.page,
        weights=NewestWeights(arguments.stream, model), filters={"origin": "rollout"},
    )  # fmt: skip
    await stream.run(arguments.parallel)


if __name__ == "__main__":
    streaming.POLL_SECONDS = 0.01
    try:
        asyncio.run(play(Behaviour.model_validate_json(sys.argv[1]), sys.argv[2:]))
    except AgentError as error:
        sys.exit(f"{error.code}: {error}")
