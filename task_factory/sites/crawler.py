"""Visits the pages of a site within bounds, records what can be used on them, and says why a page is of no use."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from protocol.base import FrozenModel
from task_factory.sites.frontier import CrawlBounds, Frontier
from task_factory.sites.safety import element_reason
from task_factory.sites.sources import BoundedSite, SiteSource, fresh_site, host_of
from vm_bridge.browser import BrowserEvent, BrowserFailed, Engine, PageHung, ScriptFailed, Session
from vm_bridge.suites.site_tasks.pages import PageView, read_page
from vm_bridge.suites.web.suite import STATE

SETTLE_MS = 3_000.0
MAX_STATE = 6_000
"""Characters of a site's state that are kept."""
LEAST_TEXT = 20
"""A page with fewer characters and nothing to use is empty."""
MAX_SAME_TEMPLATE = 3
"""Pages that differ by their numbers alone, and are still looked at."""
Rejection = Literal[
    "dead_error",
    "dead_refused",
    "dead_redirects",
    "dead_empty",
    "dead_script",
    "dead_hung",
    "login_gated",
    "captcha",
    "off_site",
    "static",
    "repeated",
    "destructive_only",
    "robots",
]
"""dead_error: HTTP 400 or more; dead_refused: no answer; dead_redirects: they do not end; dead_script: its script fails
and shows nothing; off_site: it leads elsewhere; static: nothing on it can be used; repeated: as several before but for
numbers; destructive_only: all that can be used on it does what tasks must not do."""


class CrawledPage(FrozenModel):
    """A page that was visited."""

    url: str
    title: str
    depth: int
    status: int
    text_length: int
    view: PageView
    rejected: Rejection | None = None
    reason: str = ""

    @property
    def is_usable(self) -> bool:
        return self.rejected is None


@dataclass(slots=True)
class Crawl:
    """What was found of a site."""

    pages: list[CrawledPage] = field(default_factory=list)
    pictures: dict[str, bytes] = field(default_factory=dict)
    """JPEG by address."""
    state: str = ""
    """What a bundled site tells of itself on its first page, as JSON, its first characters."""
    stopped: str = ""
    """Which bound ended it; empty where every link was followed."""
    bytes_loaded: int = 0

    @property
    def usable(self) -> list[CrawledPage]:
        """The pages that functions are looked for on."""
        return [page for page in self.pages if page.is_usable]

    @property
    def rejection(self) -> tuple[Rejection, str] | None:
        """Why the whole site is of no use; None where a page is of use. The first page's reason, unless a deeper
        fault is more common."""
        if self.usable:
            return None
        if not self.pages:
            return "dead_empty", "no page was visited"
        if any(page.rejected == "repeated" for page in self.pages):
            return "repeated", "its pages repeat without an end"
        first = self.pages[0]
        if first.rejected == "static":
            others = Counter(page.rejected for page in self.pages if page.rejected != "static")
            for code in ("login_gated", "captcha", "off_site"):
                if others[code]:
                    return code, f"beyond its first page: {code}"
        assert first.rejected is not None
        return first.rejected, first.reason


async def crawl(
    engine: Engine, source: SiteSource, bounds: CrawlBounds, report: Callable[[str], None] = lambda _: None
) -> Crawl:
    """Visit the site, first page first, then by distance. Raises BrowserFailed where the browser itself fails."""
    crawler = _Crawler(engine, source, bounds, report)
    try:
        return await crawler.run()
    finally:
        await crawler.close()


class _Crawler:
    def __init__(self, engine: Engine, source: SiteSource, bounds: CrawlBounds, report: Callable[[str], None]) -> None:
        self._engine, self._source, self._bounds, self._report = engine, source, bounds, report
        self._site = BoundedSite(fresh_site(source), bounds.max_bytes, read_only=True)
        self._session: Session | None = None
        self._templates = Counter[str]()
        self._found = Crawl()

    async def run(self) -> Crawl:
        """See `crawl`."""
        frontier = Frontier(self._source, self._site, self._bounds)
        await frontier.read_robots()
        while not self._found.stopped and (taken := frontier.take()) is not None:
            url, depth = taken
            if not frontier.is_allowed(url):
                self._found.pages.append(_unvisited(url, depth, "robots", "robots.txt does not allow it"))
                continue
            page = await self._visit(url, depth)
            self._found.pages.append(page)
            self._report(f"{page.url} {page.rejected or 'usable'}")
            if page.rejected in (None, "static", "destructive_only"):
                frontier.add(((one.href, one.name) for one in page.view.elements if one.is_link), depth)
            self._found.stopped = frontier.exceeded(len(self._found.pages)) or ""
        self._found.bytes_loaded = self._site.bytes_loaded
        return self._found

    async def close(self) -> None:
        """Give the browser's pages back."""
        if self._session is not None:
            await self._session.close()

    async def _visit(self, url: str, depth: int) -> CrawledPage:
        try:
            session = await self._open_session()
            session.take_events()
            await session.goto(url)
            await session.settle(SETTLE_MS)
            events, view = session.take_events(), await read_page(session)
            picture = await session.picture("jpeg", 80)
        except (PageHung, ScriptFailed, TimeoutError) as failure:
            await self._abandon_session()
            return _unvisited(url, depth, "dead_hung", str(failure))
        except BrowserFailed as failure:
            await self._abandon_session()
            if self._engine.died.is_set():
                raise
            return _unvisited(url, depth, "dead_hung", str(failure))
        self._found.pictures[url] = picture
        if not depth and not self._source.is_live:
            self._found.state = await _read_state(session)
        code, reason = self._judge(url, view, events)
        if code in (None, "static"):
            self._templates[_template(view)] += 1
            if self._templates[_template(view)] > MAX_SAME_TEMPLATE:
                code, reason = "repeated", "pages before it differ from it by their numbers alone"
        return CrawledPage(
            url=url,
            title=view.title[:200],
            depth=depth,
            status=self._site.statuses.get(view.url.partition("#")[0], 0),
            text_length=len(view.text),
            view=view,
            rejected=code,
            reason=reason,
        )

    def _judge(self, url: str, view: PageView, events: tuple[BrowserEvent, ...]) -> tuple[Rejection | None, str]:
        address = url.partition("#")[0]
        words = " ".join(event.text for event in events if event.kind == "request_failed")
        if "TOO_MANY_REDIRECTS" in words.upper():
            return "dead_redirects", "its redirects do not end"
        if address in self._site.failures and address not in self._site.statuses:
            return "dead_refused", self._site.failures[address]
        if not view.url.startswith("http"):
            code: Rejection = "off_site" if "BlockedByClient" in words or "NameNotResolved" in words else "dead_refused"
            return code, words[:200] or "no page came"
        if host_of(view.url) != self._source.host:
            return "off_site", f"it leads to {host_of(view.url)}"
        status = self._site.statuses.get(view.url.partition("#")[0], 200)
        if status >= 400:
            return "dead_error", f"HTTP {status}"
        if view.captcha or _CAPTCHA_WORDS.search(view.text):
            return "captcha", "it asks for a proof that one is no machine"
        return self._judge_content(view, events)

    def _judge_content(self, view: PageView, events: tuple[BrowserEvent, ...]) -> tuple[Rejection | None, str]:
        controls = [one for one in view.elements if one.is_control]
        errors = [event.text for event in events if event.kind == "page_error"]
        if not controls and errors:
            return "dead_script", errors[0][:200]
        if not controls and not any(one.is_link for one in view.elements) and len(view.text) < LEAST_TEXT:
            return "dead_empty", "it shows nothing"
        if any(one.secret for one in controls):
            beside = [one for one in controls if not (one.secret or one.form_method or _is_login(one.name))]
            fields = [one for one in controls if one.role in ("textbox", "searchbox") and not one.secret]
            if not beside or len(fields) <= 1:
                return "login_gated", "nothing but a form for a password"
        if not controls:
            links = [one.href for one in view.elements if one.is_link]
            if links and all(host_of(link) != self._source.host for link in links):
                return "off_site", "all that it has leads to other sites"
            return "static", "nothing on it can be used"
        reasons = [element_reason(one) for one in controls]
        acting = [reason for one, reason in zip(controls, reasons, strict=True) if one.role not in _FIELDS]
        if acting and all(acting):
            return "destructive_only", acting[0]
        return None, ""

    async def _open_session(self) -> Session:
        if self._session is None:
            self._session = await self._engine.open(
                self._site, size=self._source.size, seed=0, start_time=self._source.start_time
            )
        return self._session

    async def _abandon_session(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            try:
                await asyncio.wait_for(session.close(), 10)
            except (BrowserFailed, TimeoutError):
                self._session = None


_FIELDS = ("textbox", "searchbox", "combobox", "checkbox", "radio", "spinbutton", "slider", "option", "file")
_CAPTCHA_WORDS = re.compile(
    r"captcha|are you (a )?(human|robot)|not a robot|verify (that )?you are human|验证码|人机验证", re.I
)
_LOGIN_WORDS = re.compile(
    r"\b(sign|log)[ -]?(in|on)\b|^next$|^continue$|forgot|password|登录|登入|忘记密码", re.IGNORECASE
)


async def _read_state(session: Session) -> str:
    """The site's state without the places of its parts, which tasks do not need."""
    said = await session.evaluate(STATE)
    return json.dumps({name: value for name, value in (said or {}).items() if name != "view"}, ensure_ascii=False)[
        :MAX_STATE
    ]


def _is_login(name: str) -> bool:
    return bool(_LOGIN_WORDS.search(name))


def _template(view: PageView) -> str:
    """What a page shows without its numbers."""
    text = re.sub(r"\d+", "0", view.text)[:2_000]
    elements = [(one.role, re.sub(r"\d+", "0", one.name)) for one in view.elements]
    return f"{text}|{elements}"


_NOTHING = PageView(url="", title="", width=0, height=0, language="", text="", captcha=False, elements=())


def _unvisited(url: str, depth: int, code: Rejection, reason: str) -> CrawledPage:
    return CrawledPage(
        url=url, title="", depth=depth, status=0, text_length=0, view=_NOTHING, rejected=code, reason=reason[:200]
    )
