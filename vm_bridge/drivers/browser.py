"""A browser whose pages' time is ours: acts, looks, and the way back to every state by doing the same again."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

from vm_bridge.browser import BrowserFailed, Clock, PageHung, ScriptFailed, Session
from vm_bridge.browser.hands import KINDS as HANDS
from vm_bridge.drivers.browser_episode import SUITE_FAILED, Stage, lost_by
from vm_bridge.drivers.browser_files import Staged
from vm_bridge.drivers.browser_keeper import Keeper
from vm_bridge.drivers.browser_log import Deed, Log
from vm_bridge.drivers.browser_page import Told, page_of
from vm_bridge.drivers.browser_pictures import Pictures
from vm_bridge.drivers.browser_plan import plan_of
from vm_bridge.drivers.journal import Journal
from vm_bridge.errors import (
    CannotRestore,
    InvalidAction,
    MachineGone,
    StaleLease,
    UnsupportedAction,
    VerifierFailed,
)
from vm_bridge.machine import Advice, Capabilities, Snapshot
from vm_bridge.suites.scenes import WebSuite
from vocabulary.actions import Action, off_screen
from vocabulary.blobs import BlobRef
from vocabulary.observations import ActionError, Observation, Rest, Transition, Verdict
from vocabulary.tasks import Task

KINDS = (*HANDS, "upload_file")
STREAMS = ("webrtc", "stills")
TIME_OVER = ActionError(code="time_over", message="the task's time is over; nothing was done")
LOST = "what came of this act is not known: {}; the episode is as it was before it"
T = TypeVar("T")


class Browser:
    """One machine, shared by the views of all its leases. Its session is begun when it is first needed, given up when
    nobody needs it for long, and made again from its log."""

    def __init__(self, stage: Stage, suites: Mapping[str, WebSuite], folder: Path | None = None) -> None:
        """In `folder`, if there is one, lies what a later process needs to go on."""
        self._suites = suites
        self._log = Log(None if folder is None else folder / "log.jsonl")
        begun = self._log.beginning
        staged = Staged(None if folder is None else folder / "staged")
        self._keeper = Keeper(stage, self._log, plan_of(suites, None if begun is None else begun.task), staged)
        self.frames = self._keeper.frames
        self.used_at = time.monotonic()
        """When it was last needed (monotonic seconds)."""
        self._journal = Journal(None if folder is None else folder / "acts.jsonl")
        self._seen: tuple[int, Observation] | None = None
        """What was shown last, and after which change of the keeper's."""
        self._pictures = Pictures()
        self._destroyed = ""
        self._lock = self._keeper.one_at_a_time
        self._hurry = asyncio.Event()

    @property
    def capabilities(self) -> Capabilities:
        """What it can do; its size is that of the present task."""
        width, height = self._keeper.plan.screen
        return Capabilities(kinds=KINDS, width=width, height=height, streams=STREAMS, snapshots=True)

    @property
    def busy(self) -> bool:
        """Whether something is done just now."""
        return self._lock.locked()

    @property
    def idle(self) -> bool:
        """Whether its session could be given up without anybody noticing."""
        keeper = self._keeper
        return keeper.open and not (self.busy or keeper.rate or self.frames.watchers or keeper.fixed)

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
        self._hurry.set()
        async with self._lock:
            await self._keeper.forget(plan_of(self._suites, None))
            self._pictures.forget()

    async def destroy(self, why: str) -> None:
        """It is gone for good. Idempotent."""
        self._destroyed = self._destroyed or why
        self._hurry.set()
        await self._keeper.close(self._destroyed)

    # --- what a lease asks for

    async def prepare(self, fence: int, task: Task) -> Observation:
        """See `Machine.prepare`."""
        self.admit(fence)
        plan = plan_of(self._suites, task)  # what cannot be is refused before anything is thrown away
        async with self._lock:
            self.admit(fence)
            self._hurry.clear()
            await self._keeper.start(plan)
            episode = await self._keeper.present()
            start = Deed(settle=True, until_ms=episode.session.now_ms)
            return (await self._surely(partial(self._look, "rested", 0.0, deed=start))).unopened()

    async def observe(self, fence: int, *, settle: bool) -> Observation:
        """See `Machine.observe`."""
        async with self._lock:
            self.admit(fence)
            self._hurry.clear()
            return await self._surely(partial(self._observed, time.monotonic(), settle=settle))

    async def perform(self, fence: int, command_id: str, action: Action, *, settle: bool) -> Transition:
        """See `Machine.perform`."""
        if fence < self._log.fence:
            raise StaleLease(f"fencing token {fence} is behind {self._log.fence}")
        if action.kind not in KINDS:
            raise UnsupportedAction(f"a browser cannot {action.kind}")
        if any(not _is_text(value) for _, value in action if isinstance(value, str)):
            raise InvalidAction("text holds a null character or half a surrogate pair")
        act = partial(self._act, fence, action, settle=settle)
        return await self._journal.once(command_id, action, settle=settle, act=act)

    async def hurry(self, fence: int) -> None:
        """See `Machine.hurry`."""
        self.admit(fence)
        self._hurry.set()

    async def snapshot(self, fence: int) -> Snapshot:
        """See `Machine.snapshot`."""
        async with self._lock:
            self.admit(fence)
            await self._keeper.present()
            if why := self._keeper.fixed:
                raise CannotRestore(why)
            return self._log.snapshot()

    async def restore(self, fence: int, snapshot: Snapshot) -> Observation:
        """See `Machine.restore`. The page as it is stays until the other stands beside it."""
        async with self._lock:
            self.admit(fence)
            began, way = time.monotonic(), self._log.way_to(snapshot)
            if why := self._keeper.fixed:
                raise CannotRestore(why)
            made = await self._keeper.made_again(way)
            await self._keeper.replace(made, len(way))
            return await self._surely(partial(self._look, "rested", _since(began)))

    async def evaluate(self, fence: int, answer: str) -> Verdict:
        """See `Machine.evaluate`. Raises VerifierFailed."""
        async with self._lock:
            self.admit(fence)
            plan = self._keeper.plan
            if plan.task is None or plan.suite is None:
                return Verdict(success=None, score=0.0, reason="nothing can judge this task")
            judge = partial(plan.suite.judge, plan.task, answer=answer)
            try:
                return await self._surely(lambda: self._asked(judge))
            except (BrowserFailed, *SUITE_FAILED) as failure:
                raise VerifierFailed(f"the verifier failed: {failure}") from failure

    async def advise(self, fence: int) -> Advice | None:
        """See `Machine.advise`. An expert that fails knows no way on."""
        async with self._lock:
            self.admit(fence)
            plan = self._keeper.plan
            if plan.task is None or plan.suite is None:
                return None
            expert = partial(plan.suite.advise, plan.task)
            try:
                return await self._surely(lambda: self._asked(expert))
            except (BrowserFailed, *SUITE_FAILED):
                return None

    async def read(self, fence: int, question: Callable[[Session], Awaitable[T]]) -> T:
        """What a question gives that changes nothing. Raises ScriptFailed, MachineGone."""
        async with self._lock:
            self.admit(fence)
            return await self._surely(lambda: self._asked(question))

    async def pace(self, fence: int, rate: float) -> None:
        """See `Machine.pace`."""
        async with self._lock:
            self.admit(fence)
            await self._keeper.present()
            self._keeper.go_on(rate)

    async def stage(self, fence: int, data: bytes, media_type: str) -> BlobRef:
        """See `Machine.stage`."""
        async with self._lock:
            self.admit(fence)
            return self._keeper.staged.keep(data, media_type)

    async def lend(self, fence: int) -> Session:
        """The session, for somebody whose inputs nobody logs: its states cannot be made again from then on."""
        async with self._lock:
            self.admit(fence)
            episode = await self._keeper.present()
            self._log.lose("somebody else acted on the page")
            self._keeper.changes += 1
            return episode.session

    def bytes_of(self, ref: BlobRef) -> bytes:
        """Raises UnknownBlob."""
        return self._pictures.read(ref)

    # --- looking after it

    async def give_up(self) -> None:
        """Let the session go while nobody needs it; it is made again from its log."""
        async with self._lock:
            if not self._keeper.fixed and not self._keeper.rate:
                await self._keeper.put_down()

    async def lives(self) -> bool:
        """Whether its page answers, where it has one; what does not is made again once."""
        if self._destroyed:
            return False
        if self.busy or not self._keeper.open:
            return True  # what is done now has a bound of its own
        async with self._lock:
            try:
                await self._surely(lambda: self._asked(_answers))
            except (BrowserFailed, MachineGone):
                return False
            return True

    # --- acts

    async def _act(self, fence: int, action: Action, *, settle: bool) -> Transition:
        async with self._lock:
            self.admit(fence)
            self._hurry.clear()
            started, began = datetime.now(UTC), time.monotonic()
            before = self._shown()
            if before is None:
                before = await self._surely(partial(self._look, "skipped", 0.0))
            point = off_screen(action, before.width, before.height)
            if point is not None:
                raise InvalidAction(f"({point.x}, {point.y}) lies off the screen")
            if before.page is None or not before.page.truncated:
                after, error = await self._done(action, began, settle=settle)
            else:
                after, error = _rested(before, "skipped", 0.0), TIME_OVER
            return Transition(
                before=_rested(before, "skipped", 0.0),
                after=after,
                error=error,
                started_at=started,
                ended_at=datetime.now(UTC),
            )

    async def _done(
        self, action: Action, began: float, *, settle: bool, again: bool = True
    ) -> tuple[Observation, ActionError | None]:
        """What is shown after the act, and why it failed if it did. Where its page or browser is lost meanwhile, the
        episode is put back to before the act. An act that neither hung its page nor crashed it is then done once more:
        its browser may have ended because of somebody else, or lost the first frame of a window that opened."""
        episode, live = await self._keeper.present(), self._keeper.rate > 0
        pages = len(episode.session.pages)
        try:
            self._keeper.changes += 1
            done = await episode.do(action, settle=settle, live=live, hurry=self._hurry)
            failed, now = done.failed, episode.session.now_ms
            deed = Deed(action=action, settle=settle, live=live, failed=failed and failed.code, until_ms=now)
            return await self._look(done.rest, _since(began), deed=deed), failed
        except BrowserFailed as failure:
            opened = len(episode.session.pages) > pages
            own = (isinstance(failure, PageHung) and not opened) or self._keeper.crashed
            await self._keeper.recover(failure)
            if again and not own:
                return await self._done(action, began, settle=settle, again=False)
            error = ActionError(code=lost_by(failure), message=LOST.format(failure))
            return await self._surely(partial(self._look, "rested", _since(began))), error

    async def _surely(self, ask: Callable[[], Awaitable[T]]) -> T:
        """What a question gives that changes nothing; asked again where the page was lost and made again.

        Raises ScriptFailed, MachineGone.
        """
        try:
            return await ask()
        except BrowserFailed as failure:
            if isinstance(failure, ScriptFailed) and not self._keeper.crashed:
                raise
            await self._keeper.recover(failure)
            return await self._once_more(ask)

    async def _once_more(self, ask: Callable[[], Awaitable[T]]) -> T:
        try:
            return await ask()
        except ScriptFailed:
            raise
        except BrowserFailed as failure:
            raise MachineGone(f"the page fails again and again: {failure}") from failure

    async def _asked(self, question: Callable[[Session], Awaitable[T]]) -> T:
        return await question((await self._keeper.present()).session)

    # --- looking

    async def _observed(self, began: float, *, settle: bool) -> Observation:
        episode = await self._keeper.present()
        if not settle or self._keeper.rate:
            rest: Rest = "rested" if settle else "skipped"
            seen = self._shown()
            return _rested(seen, rest, 0.0) if seen else await self._look(rest, _since(began))
        at = episode.session.now_ms
        rest = await episode.rest(self._hurry)
        if episode.session.now_ms == at and (seen := self._shown()):
            return _rested(seen, rest, 0.0)
        deed = Deed(settle=True, until_ms=episode.session.now_ms)
        return await self._look(rest, _since(began), deed=deed)

    def _shown(self) -> Observation | None:
        """What was seen last, where nothing can have changed since and there is no news."""
        if self._seen is None or self._seen[0] != self._keeper.changes or self._keeper.news:
            return None
        return self._seen[1]

    async def _look(self, rest: Rest, settle_ms: float, *, deed: Deed | None = None) -> Observation:
        """See what is shown, and note what led to it. Raises BrowserFailed, and then nothing is noted."""
        keeper = self._keeper
        episode = await keeper.present()
        picture = await episode.shown()
        told = Told(
            standing=await episode.standing(),
            limit_ms=episode.scene.limit_ms,
            pace=keeper.rate,
            news=tuple(keeper.news),
            files=tuple(episode.files.values()),
        )
        page, url = page_of(episode.session, told)
        keeper.news.clear()
        ref = self._pictures.keep(picture, f"image/{keeper.plan.form}")
        if deed is not None:
            self._log.note(deed.model_copy(update={"picture": None if keeper.rate else ref.sha256}))
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
            self._seen = (keeper.changes, quiet)
        return seen


async def _answers(session: Session) -> None:
    """Raises BrowserFailed."""
    await session.evaluate("0", world="own")


def _is_text(value: str) -> bool:
    """Whether it is whole characters, none of them null."""
    return "\0" not in value and not any("\ud800" <= character <= "\udfff" for character in value)


def _rested(seen: Observation, rest: Rest, settle_ms: float) -> Observation:
    return seen.model_copy(update={"rest": rest, "settled": rest == "rested", "settle_ms": settle_ms})


def _since(began: float) -> float:
    return (time.monotonic() - began) * 1000
