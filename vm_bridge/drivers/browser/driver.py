"""A browser with controlled time: actions, observations, and restoring any state by replay."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

from protocol.actions.types import Action, find_off_screen_point
from protocol.blobs import BlobRef
from protocol.trajectory.observations import ActionError, MachineSnapshot, Observation, Rest, Transition, Verdict
from protocol.trajectory.tasks import Task
from vm_bridge.browser import BrowserFailed, Clock, PageHung, ScriptFailed, Session
from vm_bridge.browser.action_executor import ACTION_KINDS as PAGE_ACTION_KINDS
from vm_bridge.drivers.browser.episode import SUITE_ERRORS, SessionFactory, failure_code
from vm_bridge.drivers.browser.episode_config import parse_episode_config
from vm_bridge.drivers.browser.episode_manager import EpisodeManager
from vm_bridge.drivers.browser.page_state import PageContext, build_page_state
from vm_bridge.drivers.browser.replay_log import ReplayLog, ReplayStep
from vm_bridge.drivers.browser.screenshot_cache import ScreenshotCache
from vm_bridge.drivers.command_log import CommandLog
from vm_bridge.drivers.file_staging import EpisodeFileStaging
from vm_bridge.errors import (
    CannotRestore,
    InvalidAction,
    MachineGone,
    StaleLease,
    UnsupportedAction,
    VerifierFailed,
)
from vm_bridge.machine import Capabilities, ExpertSuggestion
from vm_bridge.suites.web_suite import WebSuite

ACTION_KINDS = (*PAGE_ACTION_KINDS, "upload_file")
STREAMS = ("webrtc", "stills")
TIME_LIMIT_ERROR = ActionError(code="time_over", message="the task's time is over; nothing was done")
UNKNOWN_OUTCOME = "what came of this act is not known: {}; the episode is as it was before it"
T = TypeVar("T")


class BrowserDriver:
    """One machine, shared by all its leases. Its session opens on first use, closes when it is idle for long, and is
    restored from its log.
    """

    def __init__(self, stage: SessionFactory, suites: Mapping[str, WebSuite], folder: Path | None = None) -> None:
        """`folder`, if given, holds the state that a later process needs to resume."""
        self._suites = suites
        self._log = ReplayLog(None if folder is None else folder / "log.jsonl")
        begun = self._log.beginning
        staged = EpisodeFileStaging(None if folder is None else folder / "staged")
        self._episode_manager = EpisodeManager(
            stage, self._log, parse_episode_config(suites, None if begun is None else begun.task), staged
        )
        self.frames = self._episode_manager.frames
        self.used_at = time.monotonic()
        """Time of the last use (monotonic seconds)."""
        self._command_log = CommandLog(None if folder is None else folder / "acts.jsonl")
        self._seen: tuple[int, Observation] | None = None
        """The last observation, and the episode manager's change number at that time."""
        self._pictures = ScreenshotCache()
        self._destroyed = ""
        self._lock = self._episode_manager.one_at_a_time
        self._skip_settle = asyncio.Event()

    @property
    def capabilities(self) -> Capabilities:
        """Its capabilities; the size is that of the current task."""
        width, height = self._episode_manager.plan.screen
        return Capabilities(kinds=ACTION_KINDS, width=width, height=height, streams=STREAMS, snapshots=True)

    @property
    def busy(self) -> bool:
        """Whether an operation is running."""
        return self._lock.locked()

    @property
    def idle(self) -> bool:
        """Whether its session can be closed without anyone noticing."""
        manager = self._episode_manager
        return manager.open and not (self.busy or manager.rate or self.frames.watchers or manager.not_replayable_reason)

    # --- leases

    def admit(self, fence: int) -> None:
        """Raises StaleLease, MachineGone."""
        if self._destroyed:
            raise MachineGone(self._destroyed)
        if fence < self._log.fence:
            raise StaleLease(f"fencing token {fence} is behind {self._log.fence}")
        self._log.admit(fence)
        self.used_at = time.monotonic()

    async def reset(self) -> None:
        """See `Sandbox.reset`."""
        if self._destroyed:
            raise MachineGone(self._destroyed)
        self._log.end_lease()
        self._skip_settle.set()
        async with self._lock:
            await self._episode_manager.forget(parse_episode_config(self._suites, None))
            self._pictures.forget()

    async def destroy(self, why: str) -> None:
        """Destroy the machine for good. Idempotent."""
        self._destroyed = self._destroyed or why
        self._skip_settle.set()
        await self._episode_manager.close(self._destroyed)

    # --- calls of a lease

    async def prepare(self, fence: int, task: Task) -> Observation:
        """See `Machine.prepare`."""
        self.admit(fence)
        plan = parse_episode_config(self._suites, task)  # reject an invalid task before anything is discarded
        async with self._lock:
            self.admit(fence)
            self._skip_settle.clear()
            await self._episode_manager.start(plan)
            episode = await self._episode_manager.current_episode()
            start = ReplayStep(settle=True, until_ms=episode.session.now_ms)
            return (await self._ask_with_retry(partial(self._observe, "rested", 0.0, step=start))).without_navigation()

    async def observe(self, fence: int, *, settle: bool) -> Observation:
        """See `Machine.observe`."""
        async with self._lock:
            self.admit(fence)
            self._skip_settle.clear()
            return await self._ask_with_retry(partial(self._observed, time.monotonic(), settle=settle))

    async def perform(
        self, fence: int, command_id: str, action: Action, *, settle: bool, snapshot: bool = False
    ) -> Transition:
        """See `Machine.perform`."""
        if fence < self._log.fence:
            raise StaleLease(f"fencing token {fence} is behind {self._log.fence}")
        if action.kind not in ACTION_KINDS:
            raise UnsupportedAction(f"a browser cannot {action.kind}")
        if any(not _is_valid_text(value) for _, value in action if isinstance(value, str)):
            raise InvalidAction("text holds a null character or half a surrogate pair")
        act = partial(self._act, fence, action, settle=settle, snapshot=snapshot)
        return await self._command_log.once(command_id, action, settle=settle, act=act)

    async def skip_settle(self, fence: int) -> None:
        """See `Machine.skip_settle`."""
        self.admit(fence)
        self._skip_settle.set()

    async def snapshot(self, fence: int) -> MachineSnapshot:
        """See `Machine.snapshot`."""
        async with self._lock:
            self.admit(fence)
            if (snapshot := await self._try_snapshot()) is None:
                raise CannotRestore(self._episode_manager.not_replayable_reason)
            return snapshot

    async def restore(self, fence: int, snapshot: MachineSnapshot) -> Observation:
        """See `Machine.restore`. The current page stays until its replacement is ready."""
        async with self._lock:
            self.admit(fence)
            began, replay_path = time.monotonic(), self._log.path_to(snapshot)
            if why := self._episode_manager.not_replayable_reason:
                raise CannotRestore(why)
            made = await self._episode_manager.replay(replay_path)
            await self._episode_manager.replace(made, len(replay_path))
            return await self._ask_with_retry(partial(self._observe, "rested", _elapsed_ms(began)))

    async def evaluate(self, fence: int, answer: str) -> Verdict:
        """See `Machine.evaluate`. Raises VerifierFailed."""
        async with self._lock:
            self.admit(fence)
            plan = self._episode_manager.plan
            if plan.task is None or plan.suite is None:
                return Verdict(success=None, score=0.0, reason="nothing can judge this task")
            judge = partial(plan.suite.judge, plan.task, answer=answer)
            try:
                return await self._ask_with_retry(lambda: self._query(judge))
            except (BrowserFailed, *SUITE_ERRORS) as failure:
                raise VerifierFailed(f"the verifier failed: {failure}") from failure

    async def suggest_expert_action(self, fence: int) -> ExpertSuggestion | None:
        """See `Machine.suggest_expert_action`. An expert that fails suggests nothing."""
        async with self._lock:
            self.admit(fence)
            plan = self._episode_manager.plan
            if plan.task is None or plan.suite is None:
                return None
            expert = partial(plan.suite.suggest_expert_action, plan.task)
            try:
                return await self._ask_with_retry(lambda: self._query(expert))
            except (BrowserFailed, *SUITE_ERRORS):
                return None

    async def read(self, fence: int, question: Callable[[Session], Awaitable[T]]) -> T:
        """The result of a read-only query. Raises ScriptFailed, MachineGone."""
        async with self._lock:
            self.admit(fence)
            return await self._ask_with_retry(lambda: self._query(question))

    async def set_time_scale(self, fence: int, rate: float) -> None:
        """See `Machine.set_time_scale`."""
        async with self._lock:
            self.admit(fence)
            await self._episode_manager.current_episode()
            self._episode_manager.run_clock(rate)

    async def stage_upload(self, fence: int, data: bytes, media_type: str) -> BlobRef:
        """See `Machine.stage_upload`."""
        async with self._lock:
            self.admit(fence)
            return self._episode_manager.staged.keep(data, media_type)

    async def borrow_session(self, fence: int) -> Session:
        """The session, for a client whose input is not logged. Its states cannot be replayed from then on."""
        async with self._lock:
            self.admit(fence)
            episode = await self._episode_manager.current_episode()
            self._log.mark_not_replayable("somebody else acted on the page")
            self._episode_manager.changes += 1
            return episode.session

    def read_blob(self, ref: BlobRef) -> bytes:
        """Raises UnknownBlob."""
        return self._pictures.read(ref)

    # --- maintenance

    async def release_idle_session(self) -> None:
        """Close an idle session. It is restored from its log."""
        async with self._lock:
            if not self._episode_manager.not_replayable_reason and not self._episode_manager.rate:
                await self._episode_manager.release_session()

    async def is_responsive(self) -> bool:
        """Whether its page, if any, answers. An unresponsive page is restored once."""
        if self._destroyed:
            return False
        if self.busy or not self._episode_manager.open:
            return True  # the running operation has its own timeout
        async with self._lock:
            try:
                await self._ask_with_retry(lambda: self._query(_is_responsive))
            except (BrowserFailed, MachineGone):
                return False
            return True

    # --- actions

    async def _act(self, fence: int, action: Action, *, settle: bool, snapshot: bool) -> Transition:
        async with self._lock:
            self.admit(fence)
            self._skip_settle.clear()
            started, began = datetime.now(UTC), time.monotonic()
            before = self._last_observation()
            if before is None:
                before = await self._ask_with_retry(partial(self._observe, "skipped", 0.0))
            point = find_off_screen_point(action, before.width, before.height)
            if point is not None:
                raise InvalidAction(f"({point.x}, {point.y}) is outside the screen")
            taken = await self._try_snapshot() if snapshot else None
            if before.page is None or not before.page.truncated:
                after, error = await self._perform_action(action, began, settle=settle)
            else:
                after, error = _settle_result(before, "skipped", 0.0), TIME_LIMIT_ERROR
            return Transition(
                before=_settle_result(before, "skipped", 0.0),
                after=after,
                error=error,
                started_at=started,
                ended_at=datetime.now(UTC),
                snapshot=taken,
            )

    async def _try_snapshot(self) -> MachineSnapshot | None:
        """A snapshot of the current state, or None if it cannot be replayed."""
        await self._episode_manager.current_episode()
        return None if self._episode_manager.not_replayable_reason else self._log.snapshot()

    async def _perform_action(
        self, action: Action, began: float, *, settle: bool, again: bool = True
    ) -> tuple[Observation, ActionError | None]:
        """The outcome of an action. A lost page or browser is restored to before the action. An action that neither
        hung nor crashed its page is then retried once: its browser may have ended because of another session, or
        lost the first frame of a new window."""
        episode, live = await self._episode_manager.current_episode(), self._episode_manager.rate > 0
        pages = len(episode.session.pages)
        try:
            self._episode_manager.changes += 1
            done = await episode.do(action, settle=settle, live=live, skip_settle=self._skip_settle)
            failed, now = done.failed, episode.session.now_ms
            step = ReplayStep(action=action, settle=settle, live=live, failed=failed and failed.code, until_ms=now)
            return await self._observe(done.rest, _elapsed_ms(began), step=step), failed
        except BrowserFailed as failure:
            opened = len(episode.session.pages) > pages
            own = (isinstance(failure, PageHung) and not opened) or self._episode_manager.crashed
            await self._episode_manager.recover(failure)
            if again and not own:
                return await self._perform_action(action, began, settle=settle, again=False)
            error = ActionError(code=failure_code(failure), message=UNKNOWN_OUTCOME.format(failure))
            return await self._ask_with_retry(partial(self._observe, "rested", _elapsed_ms(began))), error

    async def _ask_with_retry(self, ask: Callable[[], Awaitable[T]]) -> T:
        """The result of a read-only query. Retries if the page was lost and restored.

        Raises ScriptFailed, MachineGone.
        """
        try:
            return await ask()
        except BrowserFailed as failure:
            if isinstance(failure, ScriptFailed) and not self._episode_manager.crashed:
                raise
            await self._episode_manager.recover(failure)
            return await self._retry_once(ask)

    async def _retry_once(self, ask: Callable[[], Awaitable[T]]) -> T:
        try:
            return await ask()
        except ScriptFailed:
            raise
        except BrowserFailed as failure:
            raise MachineGone(f"the page fails again and again: {failure}") from failure

    async def _query(self, question: Callable[[Session], Awaitable[T]]) -> T:
        return await question((await self._episode_manager.current_episode()).session)

    # --- observations

    async def _observed(self, began: float, *, settle: bool) -> Observation:
        episode = await self._episode_manager.current_episode()
        if not settle or self._episode_manager.rate:
            rest: Rest = "rested" if settle else "skipped"
            seen = self._last_observation()
            return _settle_result(seen, rest, 0.0) if seen else await self._observe(rest, _elapsed_ms(began))
        at = episode.session.now_ms
        rest = await episode.rest(self._skip_settle)
        if episode.session.now_ms == at and (seen := self._last_observation()):
            return _settle_result(seen, rest, 0.0)
        step = ReplayStep(settle=True, until_ms=episode.session.now_ms)
        return await self._observe(rest, _elapsed_ms(began), step=step)

    def _last_observation(self) -> Observation | None:
        """The last observation, if nothing can have changed since and there are no new events."""
        if self._seen is None or self._seen[0] != self._episode_manager.changes or self._episode_manager.news:
            return None
        return self._seen[1]

    async def _observe(self, rest: Rest, settle_ms: float, *, step: ReplayStep | None = None) -> Observation:
        """Observe, and log what led to the observation. Raises BrowserFailed, and then nothing is logged."""
        manager = self._episode_manager
        episode = await manager.current_episode()
        picture = await episode.screenshot()
        context = PageContext(
            progress=await episode.progress(),
            limit_ms=episode.scene.limit_ms,
            pace=manager.rate,
            news=tuple(manager.news),
            files=tuple(episode.files.values()),
        )
        page, url = build_page_state(episode.session, context)
        manager.news.clear()
        ref = self._pictures.keep(picture, f"image/{manager.plan.form}")
        if step is not None:
            self._log.note(step.model_copy(update={"picture": None if manager.rate else ref.sha256}))
        width, height = episode.scene.size
        seen = Observation(
            screenshot=ref,
            width=width,
            height=height,
            captured_at=datetime.now(UTC),
            settled=rest == "rested",
            rest=rest,
            settle_ms=settle_ms,
            url=url,
            page=page,
        )
        if episode.session.clock is Clock.EXACT:
            quiet = seen.model_copy(update={"page": page.model_copy(update={"events": ()})})
            self._seen = (manager.changes, quiet)
        return seen


async def _is_responsive(session: Session) -> None:
    """Raises BrowserFailed."""
    await session.evaluate("0", world="own")


def _is_valid_text(value: str) -> bool:
    """Whether the text has only complete characters, and no null character."""
    return "\0" not in value and not any("\ud800" <= character <= "\udfff" for character in value)


def _settle_result(seen: Observation, rest: Rest, settle_ms: float) -> Observation:
    return seen.model_copy(update={"rest": rest, "settled": rest == "rested", "settle_ms": settle_ms})


def _elapsed_ms(began: float) -> float:
    return (time.monotonic() - began) * 1000
