"""One episode in a browser: a session, its log, and its replay."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pydantic import ValidationError

from protocol.actions.types import Action, ChooseFiles, UploadFile, Wait
from protocol.blobs import BlobRef
from protocol.trajectory.observations import ActionError, Rest
from protocol.trajectory.tasks import Task
from vm_bridge.browser import BrowserFailed, Clock, FilePayload, ScriptFailed, Session
from vm_bridge.browser.action_executor import PageActionExecutor
from vm_bridge.browser.files import media_type_of
from vm_bridge.drivers.browser.blank_page import blank_scene
from vm_bridge.drivers.browser.replay_log import ReplayStep
from vm_bridge.drivers.file_staging import EpisodeFileStaging
from vm_bridge.drivers.task_parameters import ImageFormat
from vm_bridge.errors import ActionFailed, CannotRestore, VerifierFailed
from vm_bridge.suites.web_suite import Scene, TaskProgress, WebSuite

SETTLE_MS = 3_000.0
"""Longest settle, in the page's time."""
SLICE_MS = 250.0
"""Step of a settle or a wait; between two steps it can be cut short."""
LIVE_SETTLE_MS = 50.0
"""Time that passes with an action without settling: enough to see it."""
JPEG_QUALITY = 90
SUITE_ERRORS = (ScriptFailed, LookupError, TypeError, ValueError)
"""Errors of a suite whose page or script returns something unexpected."""


@dataclass(frozen=True, slots=True)
class EpisodeConfig:
    """The start of an episode; without a task, the blank sheet."""

    task: Task | None
    suite: WebSuite | None
    screen: tuple[int, int]
    """Width and height in pixels."""
    clock: Clock
    form: ImageFormat
    pace: float
    """Initial time scale between two actions."""

    def scene(self) -> Scene:
        """The scene of the episode. Raises UnknownTask, InvalidAction."""
        if self.task is None or self.suite is None:
            return blank_scene(self.screen)
        return self.suite.scene(self.task)

    @property
    def seed(self) -> int:
        """Seed of all randomness in its pages."""
        return 0 if self.task is None else self.task.seed


@dataclass(frozen=True, slots=True)
class ActionOutcome:
    """How the page settled after an action, and why the action failed if it did."""

    rest: Rest
    failed: ActionError | None


class SessionFactory(Protocol):
    """Opens sessions."""

    async def open(self, scene: Scene, *, seed: int, clock: Clock, network: tuple[str, ...]) -> Session:
        """A session with an empty page that may reach these hosts. Raises BrowserFailed."""
        ...


class Episode:
    """Supports one caller at a time. Its calls raise BrowserFailed if the session is lost."""

    def __init__(self, plan: EpisodeConfig, scene: Scene, session: Session, staged: EpisodeFileStaging) -> None:
        self.plan, self.scene, self.session = plan, scene, session
        self.files = {file.name: file for file in scene.files}
        """Files offered to its pages' file choosers, by name."""
        self._staged = staged
        self._action_executor = PageActionExecutor(session, self.files)

    @classmethod
    async def begin(cls, stage: SessionFactory, plan: EpisodeConfig, staged: EpisodeFileStaging) -> "Episode":
        """Open an episode at its settled start state. Raises BrowserFailed, and ScriptFailed if the page cannot be set
        up.
        """
        scene = plan.scene()
        network = () if plan.task is None else plan.task.network
        session = await stage.open(scene, seed=plan.seed, clock=plan.clock, network=network)
        try:
            await session.goto(scene.url)
            if plan.task is not None and plan.suite is not None:
                await plan.suite.set_up(plan.task, session)
            if not scene.step_ms:
                await session.settle(SETTLE_MS)
        except BaseException:
            await session.close()
            raise
        return cls(plan, scene, session, staged)

    @classmethod
    async def replay(
        cls, stage: SessionFactory, plan: EpisodeConfig, staged: EpisodeFileStaging, steps: Sequence[ReplayStep]
    ) -> "Episode":
        """Replay the same steps without viewers. Takes the last picture. Raises CannotRestore if it, or a time on the
        way, differs.
        """
        proof = max((number for number, step in enumerate(steps) if step.picture is not None), default=-1)
        episode = await cls.begin(stage, plan, staged)
        try:
            for number, step in enumerate(steps):
                await episode._replay_step(number, step)
                await episode._compare(step, taken=number == proof)
        except BaseException:
            await episode.session.close()
            raise
        return episode

    async def do(self, action: Action, *, settle: bool, live: bool, skip_settle: asyncio.Event) -> ActionOutcome:
        """Execute an action and advance the page's time accordingly."""
        began, failed = self.session.now_ms, None
        try:
            if isinstance(action, Wait):
                await self._advance_time(action.seconds * 1000, skip_settle)
            else:
                await self._do(action, live=live)
        except ActionFailed as failure:
            failed = ActionError(code=failure.code, message=str(failure))
        return ActionOutcome(await self._come_to_rest(began, settle=settle, live=live, skip_settle=skip_settle), failed)

    async def rest(self, skip_settle: asyncio.Event) -> Rest:
        """Let the page settle, if it does."""
        return await self._settled(skip_settle) if not self.scene.step_ms else "rested"

    async def screenshot(self) -> bytes:
        """The current picture as a file."""
        return await self.session.picture(self.plan.form, JPEG_QUALITY)

    async def progress(self) -> TaskProgress:
        """Progress of the game; unknown if its page cannot report it."""
        if self.plan.task is None or self.plan.suite is None:
            return TaskProgress()
        try:
            return await self.plan.suite.progress(self.plan.task, self.session)
        except VerifierFailed as failure:
            return TaskProgress(verifier_error=str(failure))
        except SUITE_ERRORS:
            return TaskProgress()

    async def _do(self, action: Action, *, live: bool) -> None:
        """Raises ActionFailed."""
        if not isinstance(action, UploadFile):
            return await self._action_executor.do(action, live=live)
        data = self._staged.find(action.blob)
        if data is None:
            raise ActionFailed("cannot_write", "the bytes of this file were not handed over")
        try:
            (name,) = ChooseFiles(files=(action.path,)).files
        except ValidationError:
            raise ActionFailed("cannot_write", f"{action.path} is no name of a file") from None
        self.files[name] = FilePayload(name, media_type_of(name), data)

    async def _come_to_rest(self, began: float, *, settle: bool, live: bool, skip_settle: asyncio.Event) -> Rest:
        step_ms = self.scene.step_ms
        if live:  # time runs by itself
            await self.session.advance(SLICE_MS if settle and not step_ms else LIVE_SETTLE_MS)
            return "rested" if settle else "skipped"
        if not settle:
            await self.session.advance(LIVE_SETTLE_MS)
            return "skipped"
        if not step_ms:
            return await self._settled(skip_settle)
        left = step_ms - (self.session.now_ms - began)
        if left > 0:
            await self.session.advance(left)
        return "rested"

    async def _settled(self, skip_settle: asyncio.Event) -> Rest:
        ends = self.session.now_ms + SETTLE_MS
        while not skip_settle.is_set():
            if (await self.session.settle(SLICE_MS)).settled:
                return "rested"
            if self.session.now_ms >= ends:
                return "timeout"
        return "hurried"

    async def _advance_time(self, ms: float, skip_settle: asyncio.Event) -> None:
        ends = self.session.now_ms + ms
        while (left := ends - self.session.now_ms) >= 1 and not skip_settle.is_set():
            await self.session.advance(min(left, SLICE_MS))

    async def _replay_step(self, number: int, step: ReplayStep) -> None:
        """Raises CannotRestore."""
        failed = None
        if step.action is not None and not isinstance(step.action, Wait):
            try:
                await self._do(step.action, live=step.live)
            except ActionFailed as failure:
                failed = failure.code
        if failed != step.failed:
            raise CannotRestore(f"act {number} went otherwise this time")
        await self._advance_to(step)

    async def _compare(self, step: ReplayStep, *, taken: bool) -> None:
        """Repeat the effects of the logged observation. Only with `taken` a picture is taken and compared.

        Raises CannotRestore if it differs.
        """
        if step.picture is None:
            return
        if not taken:
            return await self.session.draw_without_screenshot()
        if BlobRef.of(await self.screenshot(), f"image/{self.plan.form}").sha256 != step.picture:
            raise CannotRestore(f"what is shown came out differently after {self.session.now_ms:.0f} ms")

    async def _advance_to(self, step: ReplayStep) -> None:
        """Advance time as logged."""
        settles = step.settle and not step.live and not self.scene.step_ms and not isinstance(step.action, Wait)
        if settles:
            await self.session.advance_until(step.until_ms)
        if self.session.now_ms < step.until_ms:
            await self.session.advance(step.until_ms - self.session.now_ms)
        if abs(self.session.now_ms - step.until_ms) >= 1:
            raise CannotRestore(f"time went otherwise: {self.session.now_ms:.0f} ms, not {step.until_ms:.0f}")


def failure_code(failure: BrowserFailed) -> str:
    """The stable code of a page's failure."""
    return {"PageHung": "page_hung", "BrowserEnded": "browser_ended"}.get(type(failure).__name__, "page_lost")
