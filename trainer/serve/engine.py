"""The thread that owns the model: takes requests in, writes replies together, changes weights between steps."""

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

import torch

from trainer.model.checkpoints import Checkpoint, assign_weights, read_weights
from trainer.serve.decoding import DecodingBatch, PromptCache
from trainer.serve.prompt_encoder import Prompt
from trainer.serve.replies import Delta, Reply, sample_tokens
from trainer.serve.schemas import InvalidRequest, Sampling

T = TypeVar("T")
PauseMode = Literal["abort", "wait", "keep"]
WAITING = 256
"""Requests that may wait; more are refused."""


class Busy(Exception):
    """Too many requests wait."""


@dataclass(eq=False)
class Request:
    """One request: its replies, and where their deltas go."""

    prompt: Prompt
    replies: list[Reply]
    tell: Callable[[Delta | Exception], None]
    dropped: bool = False

    @property
    def unfinished(self) -> list[Reply]:
        """Unfinished replies."""
        return [reply for reply in self.replies if reply.finish is None]


@dataclass
class EngineStatistics:
    """What was done since the start, in tokens."""

    prompt_tokens: int = 0
    reused_tokens: int = 0
    generated_tokens: int = 0


@dataclass(eq=False)
class _Row:
    request: Request
    reply: Reply
    logits: Any = field(repr=False, default=None)


class Engine:
    """Serves one checkpoint. Methods may be called from any thread; `close` ends what runs."""

    def __init__(self, checkpoint: Checkpoint, *, context: int, rows: int, cache_tokens: int) -> None:
        """`context` bounds prompt and reply together, `rows` how many replies are written at once."""
        self.figures = EngineStatistics()
        self.version = "default"
        self._model, self._context, self._rows = checkpoint.model, context, rows
        self._prompts = PromptCache(self._model, cache_tokens=cache_tokens)
        self._batch = DecodingBatch(self._model)
        self._running: list[_Row] = []
        self._waiting: deque[Request] = deque()
        self._jobs: deque[Callable[[], None]] = deque()
        self._drained: list[Future[None]] = []
        self._paused: PauseMode | None = None
        self._closed = False
        self._news = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        self._thread.start()

    # --- for servers

    async def generate(
        self, prompt: Prompt, sampling: Sampling, decode: Callable[[list[int]], str]
    ) -> AsyncIterator[Delta]:
        """The replies as they grow, mixed; ends when all have. Leaving it early ends them.

        Raises Refused where the prompt leaves no room, Busy when too many wait.
        """
        if sampling.n > self._rows:
            raise InvalidRequest(f"n may be at most {self._rows} here.", param="n")
        loop, deltas = asyncio.get_running_loop(), asyncio.Queue[Delta | Exception]()
        room = min(sampling.max_tokens or self._context, self._context - len(prompt.ids))
        replies = [Reply(index, sampling, room, self._ends(), decode) for index in range(sampling.n)]

        def tell(news: Delta | Exception) -> None:
            loop.call_soon_threadsafe(deltas.put_nowait, news)

        request = Request(prompt, replies, tell)
        self._admit(request)
        try:
            left = sampling.n
            while left:
                news = await deltas.get()
                if isinstance(news, Exception):
                    raise news
                left -= news.finish is not None
                yield news
        finally:
            request.dropped = True
            self._wake()

    @property
    def paused(self) -> bool:
        """Whether nothing is being written."""
        return self._paused is not None

    async def pause(self, mode: PauseMode) -> None:
        """Stop writing: `abort` ends what runs and waits, `wait` lets what runs end first, `keep` freezes it."""
        if mode == "wait":
            self._paused = mode
            await asyncio.wrap_future(await self._between(self._when_done))
        await self._between(lambda: self._pause(mode))

    async def resume(self) -> None:
        """Go on."""
        self._paused = None
        self._wake()

    async def reload(self, folder: Path) -> None:
        """Load other weights of the same shape. Results of the old ones are dropped; frozen replies continue.

        Raises CheckpointError, and then the old ones stay.
        """
        weights = await asyncio.to_thread(read_weights, folder, self._model)

        def change() -> None:
            assign_weights(self._model, weights)
            self._forget()

        await self._between(change)

    async def forget(self) -> None:
        """Drop what is kept of prompts and pictures."""
        await self._between(self._prompts.forget)

    def close(self) -> None:
        """End every reply and the thread."""
        with self._news:
            self._closed = True
            self._news.notify()
        self._thread.join()

    # --- the thread

    def _run(self) -> None:
        while True:
            with self._news:
                self._news.wait_for(lambda: self._closed or self._jobs or self._busy())
                jobs = [self._jobs.popleft() for _ in range(len(self._jobs))]
            for job in jobs:
                job()
            if self._closed:
                self._abort_all()
                return
            if self._busy():
                self._step()

    def _busy(self) -> bool:
        if self._paused == "keep" or self._paused == "abort":
            return False
        return bool(self._running) or (bool(self._waiting) and self._paused is None)

    def _step(self) -> None:
        """Take in what there is room for, then one token for every reply."""
        self._let_go()
        try:
            if self._paused is None:
                self._take_in()
            self._draw()
        except Exception as error:  # noqa: BLE001 - a failed step must not end the thread that serves all others
            self._fail(error)

    def _take_in(self) -> None:
        while self._waiting and len(self._running) + len(self._waiting[0].unfinished) <= self._rows:
            request = self._waiting.popleft()
            if request.dropped:
                continue
            for replies in _group_by_shared_prompt(request.unfinished):
                read = self._prompts.read(request.prompt, replies[0].ids)
                self.figures.prompt_tokens += read.tokens
                self.figures.reused_tokens += read.reused
                self._batch.join(read, len(replies))
                self._running += [_Row(request, reply, read.logits) for reply in replies]

    def _draw(self) -> None:
        """Draw where the next token's logits are known, tell it, and compute the next."""
        if not self._running:
            return
        logits = torch.stack([row.logits for row in self._running])
        replies = [row.reply for row in self._running]
        tokens, logprobs = sample_tokens(
            logits, [reply.sampling for reply in replies], [reply.source for reply in replies]
        )
        self.figures.generated_tokens += len(tokens)
        for row, token, logprob in zip(self._running, tokens, logprobs, strict=True):
            row.request.tell(row.reply.add(token, logprob, self.version))
        self._let_go()
        if self._running:
            step_logits = self._batch.step([row.reply.ids[-1] for row in self._running])
            for row, next_logits in zip(self._running, step_logits, strict=True):
                row.logits = next_logits

    def _let_go(self) -> None:
        """Drop replies that ended or whose request was dropped."""
        stay = [
            place for place, row in enumerate(self._running) if row.reply.finish is None and not row.request.dropped
        ]
        self._batch.keep(stay)
        self._running = [self._running[place] for place in stay]
        self._say_drained()

    def _forget(self) -> None:
        """Drop all results so far. Unfinished replies are read again with their tokens."""
        self._prompts.forget()
        again = list(dict.fromkeys(row.request for row in self._running))
        self._empty()
        self._waiting.extendleft(reversed(again))

    def _empty(self) -> None:
        self._running = []
        self._batch.clear()
        self._say_drained()

    def _pause(self, mode: PauseMode) -> None:
        self._paused = mode
        if mode == "abort":
            self._abort_all()

    def _when_done(self) -> Future[None]:
        """Done once nothing runs."""
        done: Future[None] = Future()
        self._drained.append(done)
        self._say_drained()
        return done

    def _say_drained(self) -> None:
        while self._drained and not self._running:
            self._drained.pop().set_result(None)

    def _abort_all(self) -> None:
        with self._news:
            waiting, self._waiting = list(self._waiting), deque()
        for request in dict.fromkeys([*(row.request for row in self._running), *waiting]):
            for reply in request.unfinished:
                request.tell(reply.abort())
        self._empty()

    def _fail(self, error: Exception) -> None:
        for request in dict.fromkeys(row.request for row in self._running):
            request.tell(error)
        self._empty()

    # --- between the threads

    def _ends(self) -> frozenset[int]:
        end_ids = self._model.generation_config.eos_token_id
        return frozenset(end_ids if isinstance(end_ids, list) else [] if end_ids is None else [end_ids])

    def _admit(self, request: Request) -> None:
        with self._news:
            if self._closed or len(self._waiting) >= WAITING:
                raise Busy("Too many requests wait.")
            self._waiting.append(request)
            self._news.notify()

    def _wake(self) -> None:
        with self._news:
            self._news.notify()

    async def _between(self, work: Callable[[], T]) -> T:
        """The result of `work`, done by the thread between two steps."""
        done: Future[T] = Future()

        def job() -> None:
            try:
                done.set_result(work())
            except Exception as error:  # noqa: BLE001 - it belongs to who asked
                done.set_exception(error)

        with self._news:
            self._jobs.append(job)
            self._news.notify()
        return await asyncio.wrap_future(done)


def _group_by_shared_prompt(replies: list[Reply]) -> list[list[Reply]]:
    """Replies without tokens share one reading of the prompt; each other reply needs its own."""
    fresh = [reply for reply in replies if not reply.ids]
    return ([fresh] if fresh else []) + [[reply] for reply in replies if reply.ids]
