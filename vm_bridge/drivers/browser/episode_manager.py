"""Manages the episode of one machine: opens it on first use, restores it after a loss, and runs its clock on
request."""

import asyncio
import time
from contextlib import suppress

from protocol.trajectory.observations import PageEvent
from vm_bridge.browser import BrowserEnded, BrowserFailed, ScriptFailed
from vm_bridge.drivers.browser.episode import Episode, EpisodeConfig, SessionFactory
from vm_bridge.drivers.browser.frames import BrowserFrames
from vm_bridge.drivers.browser.replay_log import ReplayLog, ReplayStep
from vm_bridge.drivers.file_staging import EpisodeFileStaging
from vm_bridge.errors import CannotRestore, MachineGone
from vm_bridge.machine import RESTORE_SECONDS
from vm_bridge.sandbox import FrameSource

CLOCK_STEP_MS = 1000 / 30
"""Step of the page's time while it runs by itself."""


class EpisodeManager:
    """Callers hold `one_at_a_time`, unless a method says otherwise."""

    def __init__(self, stage: SessionFactory, log: ReplayLog, plan: EpisodeConfig, staged: EpisodeFileStaging) -> None:
        self.log, self.plan, self.staged = log, plan, staged
        self.frames = BrowserFrames(self._source)
        self.one_at_a_time = asyncio.Lock()
        self.news: list[PageEvent] = []
        """Session events that were not reported yet."""
        self.rate = 0.0
        """Current time scale of the page."""
        self.changes = 0
        """Rises whenever the display may have changed."""
        self._stage = stage
        self._episode: Episode | None = None
        self._running: asyncio.Task[None] | None = None
        self._session_watcher: asyncio.Task[None] | None = None
        self._closed = ""

    @property
    def open(self) -> bool:
        """Whether there is a session."""
        return self._episode is not None

    @property
    def crashed(self) -> bool:
        """Whether the session's pages have died, though their browser lives."""
        return self._episode is not None and any(page.crashed for page in self._episode.session.pages)

    @property
    def not_replayable_reason(self) -> str:
        """Why the episode cannot be replayed; empty if it can."""
        return self.log.lost

    async def start(self, plan: EpisodeConfig) -> None:
        """Start the episode of another task. Raises MachineGone."""
        await self.release_session()
        self.staged.forget()
        self.log.begin(plan.task)
        self.plan = plan
        await self._begin()
        self.run_clock(plan.pace)

    async def forget(self, plan: EpisodeConfig) -> None:
        """Discard the episode."""
        await self.release_session()
        self.staged.forget()
        self.log.forget()
        self.plan = plan
        self.news.clear()

    async def close(self, why: str) -> None:
        """Close it for good."""
        self._closed = self._closed or why
        self.frames.close()
        async with self.one_at_a_time:
            await self.release_session()

    async def current_episode(self) -> Episode:
        """The current episode. Raises MachineGone."""
        if self._closed:
            raise MachineGone(self._closed)
        if self._episode is None and self.log.beginning is None:
            self.log.begin(None)
        if self._episode is None and not self.log.steps:
            await self._begin()
        elif self._episode is None:
            try:
                self._take(await self.replay(self.log.all_steps()))
            except CannotRestore as failure:
                raise MachineGone(f"what was done could not be done again: {failure}") from failure
        assert self._episode is not None
        return self._episode

    async def replay(self, steps: tuple[ReplayStep, ...]) -> Episode:
        """Another episode in which the same steps were replayed. Raises CannotRestore."""
        try:
            async with asyncio.timeout(RESTORE_SECONDS):
                return await self._replay_with_retry(steps)
        except TimeoutError as late:
            raise CannotRestore(f"it takes longer than {RESTORE_SECONDS:.0f} s") from late

    async def replace(self, made: Episode, steps: int) -> None:
        """Continue with an episode that replayed the first `steps` steps of this one."""
        await self.release_session(keep_pace=True)
        self.log.go_back(steps)
        self._take(made)

    async def recover(self, failure: BrowserFailed) -> None:
        """Restore the episode to the end of its log, and report it to its holder. Raises MachineGone."""
        why = self.not_replayable_reason
        await self.release_session(keep_pace=True)
        if why:
            raise MachineGone(f"{failure}; {why}") from failure
        await self.current_episode()
        self.news.append(PageEvent(kind="restored", text=f"{failure}: the episode was made again from its inputs"))

    async def release_session(self, *, keep_pace: bool = False) -> None:
        """Close the session."""
        episode, self._episode = self._episode, None
        self.changes += 1
        if not keep_pace:
            self.run_clock(0.0)
        if self._session_watcher is not None and self._session_watcher is not asyncio.current_task():
            self._session_watcher.cancel()
        if episode is not None:
            with suppress(BrowserFailed):
                await episode.session.close()
            self.frames.move()

    def run_clock(self, rate: float) -> None:
        """Run the page's clock by itself, at `rate` times real time."""
        self.rate = rate
        self.changes += 1
        if rate and self._running is None:
            self._running = asyncio.create_task(self._run())
        elif not rate and self._running is not None:
            self._running.cancel()
            self._running = None

    async def _begin(self) -> None:
        """Start from the task alone. Raises MachineGone."""
        try:
            try:
                self._take(await Episode.begin(self._stage, self.plan, self.staged))
            except BrowserEnded:
                self._take(await Episode.begin(self._stage, self.plan, self.staged))
        except BrowserFailed as failure:
            what = "the task's set-up failed" if isinstance(failure, ScriptFailed) else "the page could not be opened"
            raise MachineGone(f"{what}: {failure}") from failure

    async def _replay_with_retry(self, steps: tuple[ReplayStep, ...]) -> Episode:
        """Retries a replay whose browser ended, since another session may have been the cause. Raises CannotRestore."""
        try:
            try:
                return await Episode.replay(self._stage, self.plan, self.staged, steps)
            except BrowserEnded:
                return await Episode.replay(self._stage, self.plan, self.staged, steps)
        except BrowserFailed as failure:
            raise CannotRestore(f"the browser failed on the way: {failure}") from failure

    def _take(self, episode: Episode) -> None:
        self._episode = episode
        self.changes += 1
        if self._session_watcher is not None and self._session_watcher is not asyncio.current_task():
            self._session_watcher.cancel()
        self._session_watcher = asyncio.create_task(self._watch_session(episode))
        self.frames.move()

    async def _watch_session(self, episode: Episode) -> None:
        """Restore the episode if its browser dies between calls. Takes the lock itself."""
        await episode.session.engine.died.wait()
        async with self.one_at_a_time:
            if self._episode is episode and not self._closed:
                with suppress(MachineGone):
                    await self.recover(BrowserEnded("the browser ended"))

    async def _source(self) -> FrameSource:
        """The picture source for viewers. Takes the lock itself."""
        async with self.one_at_a_time:
            return (await self.current_episode()).session.frame_stream

    async def _run(self) -> None:
        """Takes the lock itself."""
        due = time.monotonic()
        while self.rate:
            due = max(
                due + CLOCK_STEP_MS / 1000, time.monotonic() - CLOCK_STEP_MS / 1000
            )  # does not catch up after a delay
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            async with self.one_at_a_time:
                await self._tick()

    async def _tick(self) -> None:
        episode = self._episode
        if episode is None or not self.rate:
            return
        try:
            await episode.session.advance(CLOCK_STEP_MS * self.rate)
        except BrowserFailed as failure:
            with suppress(MachineGone):
                await self.recover(failure)
            return
        self.log.advance_time(episode.session.now_ms)
        self.changes += 1
