"""Which pages of a site are visited, in which order and how many: bounds, robots.txt, links of the same site."""

import time
from collections import deque
from collections.abc import Iterable
from typing import Literal
from urllib.parse import urldefrag, urljoin, urlsplit
from urllib.robotparser import RobotFileParser

from pydantic import Field

from protocol.base import FrozenModel
from task_factory.sites.safety import destructive_reason
from task_factory.sites.sources import BoundedSite, SiteSource, host_of
from vm_bridge.browser import Request

USER_AGENT = "Pilothouse"
FILES = (".pdf", ".zip", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".mp4", ".mp3", ".csv", ".gz", ".exe", ".dmg")
Bound = Literal["pages", "seconds", "bytes"]


class CrawlBounds(FrozenModel):
    """How much of a site is visited."""

    pages: int = Field(default=20, ge=1)
    depth: int = Field(default=3, ge=0)
    """Links from the first page."""
    seconds: float = Field(default=180.0, gt=0)
    max_bytes: int = Field(default=32 * 2**20, ge=1)
    links_per_page: int = Field(default=30, ge=1)


class Frontier:
    """Addresses that are still to be visited, first page first, then by distance. The seconds begin when it is made."""

    def __init__(self, source: SiteSource, site: BoundedSite, bounds: CrawlBounds) -> None:
        self._source, self._site, self._bounds = source, site, bounds
        self._queue, self._known = deque([(source.url, 0)]), {source.url}
        self._ends = time.monotonic() + bounds.seconds
        self._robots: RobotFileParser | None = None

    async def read_robots(self) -> None:
        """Obey the rules of a live site from now on."""
        if not self._source.is_live:
            return
        address = urljoin(self._source.url, "/robots.txt")
        answer = await self._site.answer(Request("GET", address, {"user-agent": USER_AGENT}, b"", "Other"))
        self._robots = RobotFileParser(address)
        text = answer.body.decode("utf-8", "replace") if answer.status == 200 and not answer.failure else ""
        self._robots.parse(text.splitlines())

    def take(self) -> tuple[str, int] | None:
        """The next address, with its distance from the first (links); None where there is none."""
        return self._queue.popleft() if self._queue else None

    def is_allowed(self, url: str) -> bool:
        """Whether robots.txt allows an address."""
        return self._robots is None or self._robots.can_fetch(USER_AGENT, url)

    def add(self, links: Iterable[tuple[str, str]], depth: int) -> None:
        """Add what a page at this distance links to: addresses with the words of their links."""
        if depth < self._bounds.depth:
            for link in self._followed(links):
                if link not in self._known:
                    self._known.add(link)
                    self._queue.append((link, depth + 1))

    def exceeded(self, visited: int) -> Bound | None:
        """The bound that is reached after so many pages; None where all are kept."""
        if visited >= self._bounds.pages:
            return "pages"
        if time.monotonic() >= self._ends:
            return "seconds"
        return "bytes" if self._site.bytes_loaded >= self._bounds.max_bytes else None

    def _followed(self, links: Iterable[tuple[str, str]]) -> list[str]:
        """Addresses of the same site, in their order, without files and without words that change something."""
        found: dict[str, None] = {}
        for address, words in links:
            if not address.startswith("http") or host_of(address) != self._source.host or destructive_reason(words):
                continue
            base, fragment = urldefrag(address)
            route = fragment if fragment.startswith(("/", "!")) else ""
            if not urlsplit(base).path.lower().endswith(FILES):
                found[f"{base}#{route}" if route else base] = None
        return list(found)[: self._bounds.links_per_page]
