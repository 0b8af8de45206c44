"""Proves a task by playing it: its script passes its check twice from a fresh site, and doing nothing fails it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from protocol.actions.types import Action, Finish, Wait
from protocol.site_tasks import (
    AnswerStep,
    ClickStep,
    DragStep,
    ElementRef,
    ScriptStep,
    SiteTask,
    TypeStep,
    find_site_task,
    needs_answer,
)
from protocol.trajectory.tasks import Task
from task_factory.sites.safety import element_reason
from task_factory.sites.sources import BoundedSite, SiteSource, fresh_site
from vm_bridge.browser import BrowserFailed, Engine, ScriptFailed, Session
from vm_bridge.browser.action_executor import PageActionExecutor
from vm_bridge.errors import ActionFailed, VerifierFailed
from vm_bridge.suites.site_tasks import SiteTaskSuite
from vm_bridge.suites.site_tasks.pages import PageView, read_page
from vm_bridge.suites.site_tasks.scripts import completes, next_action

SETTLE_MS = 3_000.0
IDLE_MS = 1_500.0
"""How long nothing is done before the check is asked again."""
MAX_ACTS_PER_STEP = 15
MAX_BYTES = 64 * 2**20
SUITE = SiteTaskSuite()


class Unproven(Exception):
    """A task that is not kept.

    `code`: `true_at_start`, `true_by_waiting` (doing nothing passes), `script_fails` (an element is not there, or an
    act cannot be done), `no_effect` (a step changes nothing that can be seen), `ends_early` (the check holds before the
    script ends), `check_fails`, `not_repeatable` (the second run differs), `destructive`, `writes` (a live site was
    asked to change something), `site_failed`.
    """

    def __init__(self, code: str, message: str = "") -> None:
        super().__init__(f"{code}: {message}" if message else code)
        self.code, self.reason = code, message


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a script."""

    marks: tuple[str, ...]
    acts: int


async def prove(
    engine: Engine, source: SiteSource, task: Task, report: Callable[[PageView], None] = lambda _: None
) -> Run:
    """Play a task's script twice, then do nothing, each time on a fresh site. `report` is given the page before each
    step, and the last.

    Raises Unproven, and BrowserFailed where the browser itself has ended.
    """
    first = await play(engine, source, task, report)
    second = await play(engine, source, task)
    if first.marks != second.marks:
        raise Unproven("not_repeatable", "the pages of a second run differ")
    await play(engine, source, task, idle=True)
    return first


async def play(
    engine: Engine,
    source: SiteSource,
    task: Task,
    report: Callable[[PageView], None] = lambda _: None,
    *,
    idle: bool = False,
) -> Run:
    """One run on a fresh site, with all that `prove` asks of it; with `idle` one in which nothing is done. Raises
    Unproven, BrowserFailed."""
    site = BoundedSite(fresh_site(source), MAX_BYTES, read_only=source.is_live)
    try:
        run = await _play(engine, source, site, task, report, idle=idle)
    except Unproven as fault:
        if source.is_live and site.writes and fault.code != "destructive":
            raise Unproven("writes", site.writes[0]) from fault
        raise
    if source.is_live and site.writes:
        raise Unproven("writes", site.writes[0])
    return run


async def _play(
    engine: Engine,
    source: SiteSource,
    site: BoundedSite,
    task: Task,
    report: Callable[[PageView], None],
    *,
    idle: bool,
) -> Run:
    session = await engine.open(site, size=source.size, seed=task.seed, start_time=source.start_time)
    try:
        player = _Player(session, task, report)
        return await player.idle(source.url) if idle else await player.run(source.url)
    except (ScriptFailed, ActionFailed) as failure:
        raise Unproven("script_fails", str(failure)) from failure
    except VerifierFailed as failure:
        raise Unproven("check_fails", str(failure)) from failure
    except BrowserFailed as failure:
        if engine.died.is_set():
            raise
        raise Unproven("site_failed", str(failure)) from failure
    finally:
        await session.close()


class _Player:
    def __init__(self, session: Session, task: Task, report: Callable[[PageView], None]) -> None:
        given = find_site_task(task)
        assert given is not None, "only site tasks are proven"
        self._session, self._task, self._given, self._report = session, task, given, report
        self._hands = PageActionExecutor(session, {})
        self._marks, self._acts, self._answer = list[str](), 0, ""

    async def run(self, url: str) -> Run:
        """The script, from its first step to its last."""
        await self._open(url)
        for place, step in enumerate(self._given.script):
            if place and self._given.check and not needs_answer(self._given.check) and await self._passes(""):
                raise Unproven("ends_early", f"the check holds before step {place + 1}")
            await self._do_step(step)
        if not isinstance(self._given.script[-1], AnswerStep):
            self._note(await read_page(self._session))
        if self._given.check and not await self._passes(self._answer):
            raise Unproven("check_fails", await self._fault())
        return Run(tuple(self._marks), self._acts)

    async def idle(self, url: str) -> Run:
        """Nothing is done for a while."""
        await self._open(url)
        await self._session.advance(IDLE_MS)
        if self._given.check and await self._passes(""):
            raise Unproven("true_by_waiting", "the check holds by itself after some time")
        return Run((), 0)

    async def _open(self, url: str) -> None:
        await self._session.goto(url)
        await self._session.settle(SETTLE_MS)
        if self._given.check and await self._passes(""):
            raise Unproven("true_at_start", "the check holds when the site is opened")

    async def _do_step(self, step: ScriptStep) -> None:
        page = await read_page(self._session)
        self._note(page)
        for _ in range(MAX_ACTS_PER_STEP):
            self._refuse_destructive(step, page)
            action = next_action(step, page)
            await self._act(action)
            if completes(step, action):
                return
            page = await read_page(self._session)
        raise Unproven("script_fails", f"a step took more than {MAX_ACTS_PER_STEP} acts")

    def _note(self, page: PageView) -> None:
        self._report(page)
        if page.mark in self._marks:
            raise Unproven("no_effect", f"after step {len(self._marks)} the page is as it was before")
        self._marks.append(page.mark)

    async def _act(self, action: Action) -> None:
        self._acts += 1
        if isinstance(action, Finish):
            self._answer = action.answer
            return
        if isinstance(action, Wait):
            return await self._session.advance(action.seconds * 1000)
        await self._hands.do(action)
        await self._session.settle(SETTLE_MS)

    def _refuse_destructive(self, step: ScriptStep, page: PageView) -> None:
        for wanted in elements_of(step):
            found = page.find(wanted)
            if found is None:
                continue
            reason = element_reason(found)
            if not reason and isinstance(step, TypeStep) and step.enter:
                reason = element_reason(found.model_copy(update={"role": "button", "submits": True}))
            if reason:
                raise Unproven("destructive", f"{reason}: {found.role} “{found.name}” {found.dialog or found.form}")

    async def _passes(self, answer: str) -> bool:
        return (await SUITE.judge(self._task, self._session, answer)).success is True

    async def _fault(self) -> str:
        return (await SUITE.judge(self._task, self._session, self._answer)).reason


def elements_of(step: ScriptStep) -> tuple[ElementRef, ...]:
    """The elements that a step names."""
    match step:
        case ClickStep() | TypeStep():
            return (step.element,)
        case DragStep():
            return (step.element, step.to)
        case _:
            return ()


def with_site_task(task: Task, changes: Mapping[str, object]) -> Task:
    """A task whose site task has other fields."""
    given = find_site_task(task)
    assert given is not None, "only site tasks are changed"
    changed = SiteTask.model_validate({**given.model_dump(), **changes})
    parameters = {**task.parameters, "site_task": changed.model_dump(mode="json")}
    return task.model_copy(update={"parameters": parameters})
