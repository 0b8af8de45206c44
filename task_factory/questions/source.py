"""A wiki as a knowledge source: its pages within bounds, and the search that its visitors have."""

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal, get_args
from urllib.parse import quote_plus, urljoin

from task_factory.questions.inference import infer_knowledge
from task_factory.questions.pages import WikiPage, parse_page
from task_factory.sites.frontier import USER_AGENT, Bound, CrawlBounds, Frontier
from task_factory.sites.sources import BoundedSite, SiteSource, fresh_site, host_of
from vm_bridge.browser import Request
from vm_bridge.suites.questions.schema import Entity, Kind

WIKI_BOUNDS = CrawlBounds(pages=2_000, depth=30, seconds=600.0, max_bytes=512 * 2**20, links_per_page=2_000)
MAX_REDIRECTS = 5
NO_WORD = "zqxjvkwpyhfg"
"""A search for it finds nothing, so that its links are those of every page."""
MAX_SEARCHES = 3_000
"""Searches that a source is asked."""
MAX_RESULTS = 20
SEARCH_SECONDS = 30.0
CHARSET = re.compile(rb"charset=[\"']?([\w-]+)", re.IGNORECASE)
SourceFault = Literal["site_down", "site_slow", "robots", "language", "no_pages", "no_facts", "no_search"]
"""no_pages: no page is of a kind that enough others are of; no_facts: such pages have no tables that say something."""
SOURCE_FAULTS: tuple[SourceFault, ...] = get_args(SourceFault)


class SourceUnusable(Exception):
    """No questions can be made of a wiki. `code` is for programs; the message says why."""

    def __init__(self, code: SourceFault, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


@dataclass(slots=True)
class Reading:
    """What was read of a wiki."""

    pages: dict[str, WikiPage] = field(default_factory=dict)
    """English pages by address."""
    aliases: dict[str, str] = field(default_factory=dict)
    """Addresses that lead to another one."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Pages that are not used, by reason: language, robots, error, no_html."""
    stopped: Bound | None = None
    """Which bound ended it; None where every link was followed."""
    read_at: str = ""
    """When it began (ISO 8601, UTC)."""


async def read_wiki(
    source: SiteSource, bounds: CrawlBounds = WIKI_BOUNDS, report: Callable[[str], None] = lambda _: None
) -> Reading:
    """Read the pages of a wiki without a browser, in the order of a crawl. Raises SourceUnusable: `site_down`,
    `site_slow`, `robots`, `language`."""
    site = BoundedSite(fresh_site(source), bounds.max_bytes, read_only=True)
    frontier = Frontier(source, site, bounds)
    await frontier.read_robots()
    found, visited = Reading(read_at=datetime.now(UTC).isoformat(timespec="seconds")), 0
    while found.stopped is None and (taken := frontier.take()) is not None:
        url, depth = taken
        if not frontier.is_allowed(url):
            found.left_out["robots"] += 1
            continue
        visited += 1
        page = await _visit(site, source, url, found)
        if page is not None:
            frontier.add(((link.url, link.text) for link in page.links), depth)
        if visited % 100 == 0:
            report(f"{source.name}: {visited} pages are read")
        found.stopped = frontier.exceeded(visited)
    _require_pages(found, site)
    return found


async def _visit(site: BoundedSite, source: SiteSource, url: str, found: Reading) -> WikiPage | None:
    answer = await fetch_page(site, url)
    if isinstance(answer, str):
        found.left_out[answer] += 1
        return None
    if answer.url != url:
        found.aliases[url] = answer.url
        if host_of(answer.url) != source.host or answer.url in found.pages:
            return None
    if answer.is_english:
        found.pages[answer.url] = answer
    else:
        found.left_out["language"] += 1
    return answer


async def fetch_page(site: BoundedSite, url: str) -> WikiPage | Literal["error", "no_html"]:
    """The page of an address, after its redirects."""
    for _ in range(MAX_REDIRECTS):
        answer = await site.answer(Request("GET", url, {"user-agent": USER_AGENT}, b"", "Document"))
        headers = {name.lower(): text for name, text in answer.headers.items()}
        if not answer.failure and 300 <= answer.status < 400 and "location" in headers:
            url = urljoin(url, headers["location"])
            continue
        if answer.failure or answer.status != 200:
            return "error"
        if "html" not in headers.get("content-type", "text/html"):
            return "no_html"
        return parse_page(url, _decode(answer.body, headers.get("content-type", "")))
    return "error"


def _decode(body: bytes, content_type: str) -> str:
    named = CHARSET.search(content_type.encode()) or CHARSET.search(body[:1_024])
    try:
        return body.decode(named[1].decode() if named else "utf-8", "replace")
    except LookupError:
        return body.decode("utf-8", "replace")


def _require_pages(found: Reading, site: BoundedSite) -> None:
    if found.pages:
        return
    if found.left_out["language"]:
        raise SourceUnusable("language", "its pages are in another language; questions are made of English ones")
    if found.left_out["robots"]:
        raise SourceUnusable("robots", "its robots.txt allows no page")
    statuses = {f"HTTP {one}" for one in site.statuses.values()}
    failures = ", ".join(sorted({*site.failures.values(), *(site.refusals or statuses)}))
    if "TimedOut" in failures or found.stopped == "seconds":
        raise SourceUnusable("site_slow", f"no page came within the time: {failures}")
    raise SourceUnusable("site_down", f"no page came: {failures or 'no HTML'}")


class SiteSearch:
    """The search of a site, as its visitors have it: the links of the page of results, without those of every page.

    It is called in a thread, and its requests are made in the event loop that it was made in.
    """

    def __init__(self, source: SiteSource, template: str, reading: Reading) -> None:
        """`template` is the address of a search, with `{words}` for what is looked for."""
        self._site = BoundedSite(fresh_site(source), WIKI_BOUNDS.max_bytes, read_only=True)
        self._template, self._aliases = template, reading.aliases
        self._loop = asyncio.get_running_loop()
        self._known: dict[str, tuple[str, ...]] = {}
        self._everywhere: frozenset[str] = frozenset()
        self.asked = 0

    async def open(self) -> None:
        """Learn which links every page of results has. Raises SourceUnusable (`no_search`)."""
        self._everywhere = frozenset(await self._ask(NO_WORD))

    def __call__(self, words: str) -> tuple[str, ...]:
        """Addresses of the pages that are found, best first. Raises SourceUnusable: `no_search`, `site_slow`."""
        if words not in self._known:
            self.asked += 1
            waiting = asyncio.run_coroutine_threadsafe(self._ask(words), self._loop)
            try:
                found = waiting.result(SEARCH_SECONDS)
            except TimeoutError as error:
                waiting.cancel()
                raise SourceUnusable("site_slow", f"a search took more than {SEARCH_SECONDS:g} s") from error
            self._known[words] = tuple(one for one in found if one not in self._everywhere)
        return self._known[words]

    async def _ask(self, words: str) -> tuple[str, ...]:
        page = await fetch_page(self._site, self._template.replace("{words}", quote_plus(words)))
        if isinstance(page, str):
            raise SourceUnusable("no_search", "a search gives no page of results")
        return tuple(dict.fromkeys(self._aliases.get(link.url, link.url) for link in page.links))


class WikiSource:
    """Implements `KnowledgeSource` by the pages that were read and the site's own search."""

    def __init__(self, name: str, reading: Reading, search: Callable[[str], tuple[str, ...]]) -> None:
        """Raises SourceUnusable: `no_pages`, `no_facts`."""
        self._name, self._reading, self._search = name, reading, search
        known = infer_knowledge(reading.pages, reading.aliases)
        if not known.entities:
            raise SourceUnusable("no_pages", "too few of its pages begin with what kind of thing they are about")
        if not any(kind.attributes for kind in known.kinds.values()):
            raise SourceUnusable("no_facts", "no tables or first sentences of its pages say the same of many")
        self._kinds, self._entities = known.kinds, known.entities

    @property
    def version(self) -> str:
        """The site's name and when it was read."""
        return f"{self._name} {self._reading.read_at}"

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """What its pages have in common."""
        return self._kinds

    @property
    def entities(self) -> Mapping[str, Entity]:
        """Every page of a kind by its address."""
        return self._entities

    def page(self, entity_id: str) -> WikiPage:
        """The page of an entity."""
        return self._reading.pages[entity_id]

    def text(self, entity_id: str) -> str:
        """A page's text, without the title."""
        return self._reading.pages[entity_id].text

    def search(self, words: str, limit: int = 10) -> tuple[str, ...]:
        """The first results that are pages of entities. Raises SourceUnusable."""
        return tuple(one for one in self._search(words)[:limit] if one in self._entities)
