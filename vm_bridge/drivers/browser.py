"""A browser whose pages' time is ours: acts, looks, and the way back to every state by doing the same again."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from vm_bridge.browser import BrowserEnded, BrowserFailed, Clock, ScriptFailed
from vm_bridge.browser.hands import KINDS
from vm_bridge.drivers.browser_episode import Episode, Stage, lost_by
from vm_bridge.drivers.browser_frames import BrowserFrames
from vm_bridge.drivers.browser_log import Deed, Log
from vm_bridge.drivers.browser_page import Told, page_of
from vm_bridge.drivers.browser_plan import plan_of
from vm_bridge.drivers.journal import Journal
from vm_bridge.errors import (
    CannotRestore,
    InvalidAction,
    MachineGone,
    StaleLease,
    UnknownBlob,
    UnsupportedAction,
    VerifierFailed,
)
from vm_bridge.machine import Advice, Capabilities, Snapshot
from vm_bridge.sandbox import FrameSource
from vm_bridge.suites.scenes import WebSuite
from vocabulary.actions import Action, off_screen
from vocabulary.blobs import BlobRef
from vocabulary.observations import ActionError, Observation, PageEvent, Rest, Transition, Verdict
from vocabulary.tasks import Task

KEPT_BLOBS = 48
TICK_MS = 1000 / 30
"""How much of the page's time is given at once while it goes by itself."""
AGAIN_SECONDS = 120.0
"""Longest that an episode may take to be made again."""
STREAMS = ("webrtc", "stills")
LOST = "what came of this act is not known: {}; the episode is as it was before it"


class Browser:
    """One machine, shared by the views of all its leases. Its session is begun when it is first needed, given up when
    nobody needs it for long, and made again from its log."""

    def __init__(self, stage: Stage, suites: Mapping[str, WebSuite], folder: Path | None = None) -> None:
        """In `folder`, if there is one, lies what a later process needs to go on."""
        self.log = Log(None if folder is None else folder / "log.jsonl")
        self.frames = BrowserFrames(self._source)
        self.used_at = time.monotonic()
        """When it was last needed (monotonic seconds)."""
        self._stage, self._suites = stage, suites
        self._journal = Journal(None if folder is None else folder / "acts.jsonl")
        self._plan = plan_of(suites, None if self.log.beginning is None else self.log.beginning.task)
        self._episode: Episode | None = None
        self._seen: Observation | None = None
        """What is shown, where nothing has changed since."""
        self._news: list[PageEvent] = []
        self._blobs: OrderedDict[str, bytes] = OrderedDict()
        self._used = 0
        self._rate = 0.0
        self._running: asyncio.Task[None] | None = None
        self._minding: asyncio.Task[None] | None = None
        self._destroyed = ""
        self._one_at_a_time = asyncio.Lock()
        self._hurry = asyncio.Event()

    @property
    def capabilities(self) -> Capabilities:
        """What it can do; its size is that of the present task."""
        width, height = self._plan.scene().size
        return Capabilities(kinds=KINDS, width=width, height=height, streams=STREAMS, snapshots=True)

    @property
    def busy(self) -> bool:
        """Whether something is done just now."""
        return self._one_at_a_time.locked()

    @property
    def idle(self) -> bool:
        """Whether its session could be given up without anybody noticing."""
        return not (self.busy or self._rate or self.frames.watchers or self._replayable())

    # --- leases

    def admit(self, fence: int) -> None:
        """Raises StaleLease, MachineGone."""
        if self._destroyed:
            raise MachineGone(self._destroyed)
        if fence < self.log.fence:
            raise StaleLease(f"fencing token {fence} is behind {self.log.fence}")
        self._used = max(self._used, fence)
        self.log.admit(fence)
        self.used_at = time.monotonic()

    async def reset(self) -> None:
        """See `Sandbox.reset`."""
        if self._destroyed:
            raise MachineGone(self._destroyed)
        self.log.admit(self._used + 1)
        self._hurry.set()
        async with self._one_at_a_time:
            await self._put_down()
            self.log.forget()
            self._plan, self._seen = plan_of(self._suites, None), None
            self._blobs.clear()
            self._news.clear()

    async def destroy(self, why: str) -> None:
        """It is gone for good. Idempotent."""
        self._destroyed = self._destroyed or why
        self._hurry.set()
        self.frames.close()
        async with self._one_at_a_time:
            await self._put_down()

    # --- what a lease asks for

    async def prepare(self, fence: int, task: Task) -> Observation:
        """See `Machine.prepare`."""
        self.admit(fence)
        plan = plan_of(self._suites, task)
        plan.scene()  # refused before anything is thrown away
        async with self._one_at_a_time:
            self.admit(fence)
            await self._put_down()
            self.log.begin(task)
            self._plan = plan
            await self._begin()
            self._go_on(plan.pace)
            return await self._look("rested", 0.0)

    async def observe(self, fence: int, *, settle: bool) -> Observation:
        """See `Machine.observe`."""
        async with self._one_at_a_time:
            self.admit(fence)
            self._hurry.clear()
            began = time.monotonic()
            try:
                return await self._observed(began, settle=settle)
            except BrowserFailed as failure:
                await self._recover(failure)
                return await self._look("rested", _since(began))

    async def perform(self, fence: int, command_id: str, action: Action, *, settle: bool) -> Transition:
        """See `Machine.perform`."""
        if fence < self.log.fence:
            raise StaleLease(f"fencing token {fence} is behind {self.log.fence}")
        if action.kind not in KINDS:
            raise UnsupportedAction(f"a browser cannot {action.kind}")
        act = partial(self._act, fence, action, settle=settle)
        return await self._journal.once(command_id, action, settle=settle, act=act)

    async def hurry(self, fence: int) -> None:
        """See `Machine.hurry`."""
        self.admit(fence)
        self._hurry.set()

    async def snapshot(self, fence: int) -> Snapshot:
        """See `Machine.snapshot`."""
        async with self._one_at_a_time:
            self.admit(fence)
            await self._present()
            if why := self._replayable():
                raise CannotRestore(why)
            return self.log.snapshot()

    async def restore(self, fence: int, snapshot: Snapshot) -> Observation:
        """See `Machine.restore`. The page as it is stays until the other stands beside it."""
        async with self._one_at_a_time:
            self.admit(fence)
            began, way = time.monotonic(), self.log.way_to(snapshot)
            if why := self._replayable():
                raise CannotRestore(why)
            made = await self._made_again(way)
            await self._put_down(keep_pace=True)
            self.log.go_back(len(way))
            self._take(made)
            return await self._look("rested", _since(began))

    async def evaluate(self, fence: int, answer: str) -> Verdict:
        """See `Machine.evaluate`. Raises VerifierFailed."""
        async with self._one_at_a_time:
            self.admit(fence)
            plan = self._plan
            if plan.task is None or plan.suite is None:
                return Verdict(success=None, score=0.0, reason="nothing can judge this task")
            for _ in range(2):
                episode = await self._present()
                try:
                    return await plan.suite.judge(plan.task, episode.session, answer)
                except ScriptFailed as failure:
                    raise VerifierFailed(f"the verifier failed: {failure}") from failure
                except BrowserFailed as failure:
                    await self._recover(failure)
            raise VerifierFailed("the verifier found no page to judge")

    async def advise(self, fence: int) -> Advice | None:
        """See `Machine.advise`. An expert that fails knows no way on."""
        async with self._one_at_a_time:
            self.admit(fence)
            plan = self._plan
            if plan.task is None or plan.suite is None:
                return None
            episode = await self._present()
            try:
                return await plan.suite.advise(plan.task, episode.session)
            except ScriptFailed:
                return None
            except BrowserFailed as failure:
                await self._recover(failure)
                return None

    async def pace(self, fence: int, rate: float) -> None:
        """See `Machine.pace`."""
        async with self._one_at_a_time:
            self.admit(fence)
            await self._present()
            self._go_on(rate)
            self._seen = None

    def bytes_of(self, ref: BlobRef) -> bytes:
        """Raises UnknownBlob."""
        try:
            return self._blobs[ref.sha256]
        except KeyError:
            raise UnknownBlob(f"blob {ref.sha256} is no longer kept") from None

    # --- looking after it

    async def give_up(self) -> None:
        """Let the session go while nobody needs it; it is made again from its log."""
        async with self._one_at_a_time:
            if self._episode is not None and not self._replayable() and not self._rate:
                await self._put_down()
                self._seen = None

    async def lives(self) -> bool:
        """Whether its page answers, where it has one; what does not is made again once."""
        if self._destroyed:
            return False
        if self.busy or self._episode is None:
            return True  # what is done now has a bound of its own
        async with self._one_at_a_time:
            if self._episode is None:
                return True
            try:
                await self._episode.session.evaluate("0", world="own")
            except BrowserFailed as failure:
                with suppress(MachineGone):
                    await self._recover(failure)
                    return True
                return False
            return True

    # --- acts

    async def _act(self, fence: int, action: Action, *, settle: bool) -> Transition:
        async with self._one_at_a_time:
            self.admit(fence)
            self._hurry.clear()
            started, began = datetime.now(UTC), time.monotonic()
            before = await self._before()
            point = off_screen(action, before.width, before.height)
            if point is not None:
                raise InvalidAction(f"({point.x}, {point.y}) lies off the screen")
            after, error = await self._done(action, began, settle=settle)
            return Transition(before=before, after=after, error=error, started_at=started, ended_at=datetime.now(UTC))

    async def _before(self) -> Observation:
        """The frame that is acted on."""
        seen = self._seen
        if seen is None:
            seen = await self._look_surely()
        page = None if seen.page is None else seen.page.model_copy(update={"events": ()})
        return seen.model_copy(update={"settled": False, "rest": "skipped", "settle_ms": 0.0, "page": page})

    async def _look_surely(self) -> Observation:
        try:
            await self._present()
            return await self._look("skipped", 0.0)
        except BrowserFailed as failure:
            await self._recover(failure)
            return await self._look("skipped", 0.0)

    async def _done(
        self, action: Action, began: float, *, settle: bool, again: bool = True
    ) -> tuple[Observation, ActionError | None]:
        """What is shown after the act, and why it failed if it did. Where the page or its browser is lost meanwhile, the
        episode is put back to before the act; an act that did not end its browser itself is then done once more."""
        episode, live = await self._present(), self._rate > 0
        try:
            rest, code, message = await episode.do(action, settle=settle, live=live, hurry=self._hurry)
            seen = await self._look(
                rest,
                _since(began),
                deed=Deed(
                    action=action, settle=settle, live=live, failed=code or None, until_ms=episode.session.now_ms
                ),
            )
            return seen, ActionError(code=code, message=message) if code else None
        except BrowserFailed as failure:
            await self._recover(failure)
            if again and isinstance(failure, BrowserEnded):
                return await self._done(action, began, settle=settle, again=False)
            error = ActionError(code=lost_by(failure), message=LOST.format(failure))
            return await self._look("rested", _since(began)), error

    # --- looking

    async def _observed(self, began: float, *, settle: bool) -> Observation:
        episode = await self._present()
        if not settle or self._rate:
            return self._seen_now("skipped") or await self._look("skipped" if not settle else "rested", _since(began))
        at = episode.session.now_ms
        rest = await episode.rest(self._hurry)
        if episode.session.now_ms == at and (seen := self._seen_now(rest)):
            return seen
        deed = Deed(settle=True, until_ms=episode.session.now_ms)
        return await self._look(rest, _since(began), deed=deed)

    def _seen_now(self, rest: Rest) -> Observation | None:
        """What was seen last, where nothing can have changed since."""
        if self._seen is None or self._news:
            return None
        return self._seen.model_copy(update={"rest": rest, "settled": rest == "rested", "settle_ms": 0.0})

    async def _look(self, rest: Rest, settle_ms: float, *, deed: Deed | None = None) -> Observation:
        """See what is shown, and note what led to it. Raises BrowserFailed, and then nothing is noted."""
        episode = await self._present()
        session = episode.session
        picture = await episode.shown()
        page, url = page_of(session, Told(await episode.standing(), self._rate, tuple(self._news)))
        ref = self._keep(picture, f"image/{self._plan.form}")
        self._news.clear()
        if deed is not None:
            self.log.note(deed.model_copy(update={"picture": None if self._rate else ref.sha256}))
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
        still = session.clock is Clock.EXACT and not self._rate
        self._seen = seen.model_copy(update={"page": page.model_copy(update={"events": ()})}) if still else None
        return seen

    def _keep(self, data: bytes, media_type: str) -> BlobRef:
        ref = BlobRef.of(data, media_type)
        self._blobs[ref.sha256] = data
        self._blobs.move_to_end(ref.sha256)
        while len(self._blobs) > KEPT_BLOBS:
            self._blobs.popitem(last=False)
        return ref

    # --- the session

    async def _present(self) -> Episode:
        """The episode as it stands, made anew where there is none. Raises MachineGone."""
        if self._episode is None:
            if self.log.beginning is None:
                self.log.begin(None)
                await self._begin()
            elif not self.log.deeds:
                await self._begin()
            else:
                await self._again()
        assert self._episode is not None
        return self._episode

    async def _begin(self) -> None:
        """From the task alone. Raises MachineGone."""
        for again in (True, False):
            try:
                self._take(await Episode.begin(self._stage, self._plan))
                return
            except BrowserFailed as failure:
                if not again or isinstance(failure, ScriptFailed):
                    raise MachineGone(f"the page could not be set up: {failure}") from failure

    async def _again(self) -> None:
        """From the log. Raises MachineGone."""
        try:
            self._take(await self._made_again(self.log.whole()))
        except CannotRestore as failure:
            raise MachineGone(f"what was done could not be done again: {failure}") from failure

    async def _made_again(self, deeds: tuple[Deed, ...]) -> Episode:
        """Raises CannotRestore."""
        for again in (True, False):
            try:
                async with asyncio.timeout(AGAIN_SECONDS):
                    return await Episode.again(self._stage, self._plan, deeds)
            except BrowserFailed as failure:
                if not again:
                    raise CannotRestore(f"the browser failed on the way: {failure}") from failure
            except TimeoutError as late:
                raise CannotRestore(f"it takes longer than {AGAIN_SECONDS:.0f} s") from late
        raise AssertionError("either it is made or it is not")

    async def _recover(self, failure: BrowserFailed) -> None:
        """Put the episode back to where its log ends, and let its holder know. Raises MachineGone."""
        await self._put_down(keep_pace=True)
        if why := self._replayable():
            raise MachineGone(f"{failure}; {why}") from failure
        await self._present()
        self._news.append(PageEvent(kind="restored", text=f"{failure}: the episode was made again from its inputs"))

    def _take(self, episode: Episode) -> None:
        self._episode, self._seen = episode, None
        if self._minding is not None:
            self._minding.cancel()
        self._minding = asyncio.create_task(self._mind(episode))
        self.frames.move()

    async def _put_down(self, *, keep_pace: bool = False) -> None:
        episode, self._episode = self._episode, None
        if not keep_pace:
            self._go_on(0.0)
        if self._minding is not None and self._minding is not asyncio.current_task():
            self._minding.cancel()
        if episode is not None:
            with suppress(BrowserFailed):
                await episode.session.close()
            self.frames.move()

    async def _mind(self, episode: Episode) -> None:
        """Make the episode again when its browser dies while nobody asks."""
        await episode.session.engine.died.wait()
        async with self._one_at_a_time:
            if self._episode is episode and not self._destroyed:
                with suppress(MachineGone):
                    await self._recover(BrowserEnded("the browser ended"))

    def _replayable(self) -> str:
        """Why the episode cannot be made again; empty where it can."""
        if self._episode is not None and self._episode.session.clock is Clock.REAL:
            return "this page's time is everybody's"
        return self.log.lost

    async def _source(self) -> FrameSource:
        async with self._one_at_a_time:
            return (await self._present()).session.frames

    # --- pace

    def _go_on(self, rate: float) -> None:
        """Let the page's time go by itself, so many times as fast as everybody's."""
        self._rate = rate
        if rate and self._running is None:
            self._running = asyncio.create_task(self._run())
        elif not rate and self._running is not None:
            self._running.cancel()
            self._running = None

    async def _run(self) -> None:
        due = time.monotonic()
        while self._rate:
            due = max(due + TICK_MS / 1000, time.monotonic() - TICK_MS / 1000)  # what is late is not made up for
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            async with self._one_at_a_time:
                await self._tick()

    async def _tick(self) -> None:
        episode = self._episode
        if episode is None or not self._rate:
            return
        try:
            await episode.session.advance(TICK_MS * self._rate)
        except BrowserFailed as failure:
            with suppress(MachineGone):
                await self._recover(failure)
            return
        self.log.passed(episode.session.now_ms)
        self._seen = None


def _since(began: float) -> float:
    return (time.monotonic() - began) * 1000
