"""Plays and judges tasks that bring their site, their check and their script along."""

import hashlib
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from pydantic import JsonValue, ValidationError

from protocol.actions.types import Finish
from protocol.site_tasks import BundledSite, LiveSite, SiteTask, StateCondition, ZimSite, find_site_task, needs_answer
from protocol.trajectory.observations import Verdict
from protocol.trajectory.tasks import Language, Task
from vm_bridge.browser import Request, Response, ScriptFailed, Session
from vm_bridge.errors import InvalidAction, UnknownTask
from vm_bridge.machine import ExpertSuggestion
from vm_bridge.suites.site_tasks.checks import find_fault
from vm_bridge.suites.site_tasks.kiwix import require_kiwix
from vm_bridge.suites.site_tasks.pages import read_page
from vm_bridge.suites.site_tasks.scripts import describe_step, next_action
from vm_bridge.suites.site_tasks.zim_files import find_zim
from vm_bridge.suites.site_tasks.zim_site import URL, ZimWebsite
from vm_bridge.suites.web import SITES
from vm_bridge.suites.web.suite import STATE
from vm_bridge.suites.web_suite import Scene, TaskProgress

VERSION = "1.0"
FIRST_PAGE = "[location.href, performance.getEntriesByType('navigation')[0]?.responseStatus ?? 0]"
"""The address of the page that is open, and the HTTP status of its document; 0 where the browser does not tell."""


class UnreachableSite:
    """Has no host: all that a live task reaches is beyond it."""

    async def answer(self, request: Request) -> Response:
        return Response(failure="NameNotResolved")


class SiteTaskSuite:
    """Implements `WebSuite` for tasks of files: it has none of its own."""

    @property
    def tasks(self) -> tuple[Task, ...]:
        return ()

    def make(
        self,
        name: str,
        *,
        seed: int = 0,
        level: int = 1,
        language: Language = "en",
        size: tuple[int, int] | None = None,
    ) -> Task:
        """Raises UnknownTask: these tasks come from files."""
        raise UnknownTask(f"there is no task {name} among the site tasks: they come from files")

    def scene(self, task: Task) -> Scene:
        """The site's first page. Raises InvalidAction, UnknownTask, ZimUnusable."""
        given = _definition(task)
        if isinstance(given.site, BundledSite):
            return replace(SITES.scene(make_site_world(given.site, given.size)), size=given.size)
        if isinstance(given.site, ZimSite):
            require_kiwix()
            return Scene(site=ZimWebsite(find_zim(given.site)), url=URL, size=given.size)
        return Scene(site=UnreachableSite(), url=given.site.url, size=given.size)

    async def set_up(self, task: Task, session: Session) -> None:
        """Nothing is changed: a site begins as its first page comes. Raises ScriptFailed where a live site does not
        answer, or refuses: what a policy does there would say nothing of it."""
        site = _definition(task).site
        if isinstance(site, LiveSite):
            check_first_page(site.url, await session.evaluate(FIRST_PAGE))

    async def progress(self, task: Task, session: Session) -> TaskProgress:
        """Ended as soon as the check holds, unless it asks for an answer. Raises ScriptFailed."""
        given = _definition(task)
        if not given.check or needs_answer(given.check):
            return TaskProgress(done=False)
        fault = await _find_fault(given, session, None)
        return TaskProgress(score=float(not fault), done=not fault, success=None if fault else True)

    async def judge(self, task: Task, session: Session, answer: str) -> Verdict:
        """Whether all conditions hold; undecided where the task has none. Raises ScriptFailed."""
        given = _definition(task)
        judged_by = {"verifier": _checksum(given), "version": VERSION}
        if not given.check:
            return Verdict(success=None, score=0.0, reason="only its criteria can judge this task", **judged_by)
        fault = await _find_fault(given, session, answer)
        return Verdict(success=not fault, score=float(not fault), reason=fault or "every condition holds", **judged_by)

    async def suggest_expert_action(self, task: Task, session: Session) -> ExpertSuggestion | None:
        """The next act of the script where the page is as it was when the script was proven; else None. Raises
        ScriptFailed."""
        given, page = _definition(task), await read_page(session)
        if page.mark not in given.marks:
            return None
        place = given.marks.index(page.mark)
        if place >= len(given.script):
            return ExpertSuggestion(thought="All is done.", action=Finish())
        step = given.script[place]
        return ExpertSuggestion(thought=describe_step(step), action=next_action(step, page))


def check_first_page(url: str, page: object) -> None:
    """Raises ScriptFailed for what the first page of a live site says of itself: `[its address, its HTTP status]`."""
    match page:
        case [str(address), int(status)] if urlsplit(address).scheme in ("http", "https") and status < 400:
            return
        case [str(address), int(status)] if urlsplit(address).scheme in ("http", "https"):
            raise ScriptFailed(f"{url} answered with the HTTP status {status}")
        case _:
            raise ScriptFailed(f"{url} cannot be reached")


def make_site_world(site: BundledSite, size: tuple[int, int]) -> Task:
    """The bundled task whose site this is. Raises UnknownTask, InvalidAction."""
    return SITES.make(site.name, seed=site.seed, level=site.level, language=site.language, size=size)


def _definition(task: Task) -> SiteTask:
    try:
        found = find_site_task(task)
    except ValidationError as error:
        raise InvalidAction(f"the site task cannot be read: {error}") from error
    if found is None:
        raise UnknownTask("the task brings no site task along")
    return found


async def _find_fault(given: SiteTask, session: Session, answer: str | None) -> str:
    """Why the first condition that does not hold does not; empty where all hold."""
    state: JsonValue = None
    if any(isinstance(one, StateCondition) for one in given.check):
        said: Any = await session.evaluate(STATE)
        state = said
    page = await read_page(session)
    if urlsplit(page.url).hostname != urlsplit(_start_url(given)).hostname:
        return "no page of the site is open"
    return next((fault for one in given.check if (fault := find_fault(one, page, state, answer))), "")


def _start_url(given: SiteTask) -> str:
    site = given.site
    if isinstance(site, ZimSite):
        return URL
    return SITES.scene(make_site_world(site, given.size)).url if isinstance(site, BundledSite) else site.url


def _checksum(given: SiteTask) -> str:
    """SHA-256 of what judges."""
    told = given.model_dump_json(include={"site", "check"})
    return hashlib.sha256(told.encode()).hexdigest()
