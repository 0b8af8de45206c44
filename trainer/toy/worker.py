"""A process that plays the lights for a trainer elsewhere. Two folders are their only connection.

It serves the run's newest weights to itself and takes newer ones between two turns, so that an attempt may span
several versions, each named with the tokens that it sampled. The replies of an unfinished attempt are on disk after
every turn: after a kill at any moment, a worker of the same name continues it.
"""

import asyncio
import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from protocol.training.checkpoints import newest_checkpoint
from protocol.training.inbox import waiting_folders
from trainer.errors import CheckpointError, RolloutsMissing, WorkerBusy
from trainer.model.checkpoints import load_checkpoint
from trainer.serve.engine import Engine
from trainer.serve.prompt_encoder import PromptEncoder
from trainer.toy.episodes import LightsEpisode, PolicyReply
from trainer.toy.trajectory_folders import write_trajectory_folder

OPEN = ".open"
LOOK_EVERY = 0.1
CONTEXT, CACHE_TOKENS = 256, 2048


class Worker:
    """Plays until it is stopped; at most `parallel` attempts at a time, and `ahead` folders before the trainer."""

    def __init__(self, *, name: str, run: Path, inbox: Path, parallel: int, ahead: int, temperature: float) -> None:
        self._name, self._run, self._inbox = name, run, inbox
        self._parallel, self._ahead, self._temperature = parallel, ahead, temperature
        self._open = inbox / OPEN / name
        self._changing = asyncio.Lock()

    async def work(self, *, patience: float) -> None:
        """Play on and on. Raises RolloutsMissing where no weights come in time, WorkerBusy for a name in use."""
        with self._alone():
            newest = await self._weights(patience)
            checkpoint = load_checkpoint(newest)
            self._reader = PromptEncoder(checkpoint, max_images=1, context=CONTEXT)
            self._engine = Engine(checkpoint, context=CONTEXT, rows=self._parallel, cache_tokens=CACHE_TOKENS)
            self._engine.version = newest.name
            unfinished = self._unfinished()
            try:
                async with asyncio.TaskGroup() as players:
                    for _ in range(self._parallel):
                        players.create_task(self._plays(unfinished))
            finally:
                self._engine.close()

    async def _plays(self, unfinished: list[LightsEpisode]) -> None:
        while True:
            while len(waiting_folders(self._inbox)) >= self._ahead:  # noqa: ASYNC110 - another process takes them away
                await asyncio.sleep(LOOK_EVERY)
            await self._played(unfinished.pop() if unfinished else LightsEpisode(seed=time.time_ns()))

    async def _played(self, play: LightsEpisode) -> None:
        progress_file = self._open / f"{play.id}.json"
        while not play.is_over:
            await self._renew()
            prompt = self._reader.read([play.request()])
            deltas = [
                delta
                async for delta in self._engine.generate(prompt, play.sampling(self._temperature), self._reader.text)
            ]
            reply = PolicyReply(
                text="".join(delta.text for delta in deltas),
                ids=tuple(token for delta in deltas for token in delta.ids),
                logprobs=tuple(logprob for delta in deltas for logprob in delta.logprobs),
                versions=deltas[-1].versions,
                finish=deltas[-1].finish or "",
            )
            play.apply_reply(prompt.ids, reply, self._temperature)
            _write_unfinished(progress_file, play)
        target = self._inbox / f"{play.seed}-{self._name}"
        if not target.exists():
            write_trajectory_folder(target, [play.trajectory()], play.blobs)
        progress_file.unlink(missing_ok=True)

    async def _renew(self) -> None:
        """Take the newest weights if there are newer ones; replies on their way are finished with the old."""
        async with self._changing:
            newest = newest_checkpoint(self._run)
            if newest is None or newest.name == self._engine.version:
                return
            await self._engine.pause("wait")
            try:
                await self._engine.reload(newest)
                self._engine.version = newest.name
            except CheckpointError:  # it was cleared away meanwhile: a newer one is there
                pass
            finally:
                await self._engine.resume()

    async def _weights(self, patience: float) -> Path:
        until = time.monotonic() + patience
        while (newest := newest_checkpoint(self._run)) is None:
            if time.monotonic() > until:
                raise RolloutsMissing(f"{self._run.name} has no weights after {patience:g} s")
            await asyncio.sleep(LOOK_EVERY)
        return newest

    def _unfinished(self) -> list[LightsEpisode]:
        """What a worker of this name was killed at."""
        return [_read_unfinished(file, self._temperature) for file in sorted(self._open.glob("*.json"))]

    @contextmanager
    def _alone(self) -> Iterator[None]:
        self._open.mkdir(parents=True, exist_ok=True)
        with (self._open / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise WorkerBusy(f"another worker is called {self._name}") from None
            yield


def _write_unfinished(file: Path, play: LightsEpisode) -> None:
    """Save an attempt in progress atomically."""
    aside = file.with_suffix(".new")
    turns = [[ids, reply.model_dump()] for ids, reply in play.replies]
    aside.write_text(json.dumps({"seed": play.seed, "draw": play.draw, "said": turns}))
    os.rename(aside, file)


def _read_unfinished(file: Path, temperature: float) -> LightsEpisode:
    """Restore an attempt by replaying its replies; the world is deterministic."""
    saved = json.loads(file.read_text())
    play = LightsEpisode(saved["seed"], saved["draw"])
    for ids, reply in saved["said"]:
        play.apply_reply(ids, PolicyReply.model_validate(reply), temperature)
    return play
