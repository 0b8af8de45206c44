"""Wikis without a server: folders of pages, with a search that wants every word, as kiwix-serve's does."""

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from protocol.site_tasks import LiveSite
from task_factory.questions.pages import parse_page
from task_factory.sites.sources import SiteSource
from vm_bridge.browser import Request, Response, Site
from vm_bridge.browser.site import StaticSite

HOST = "wiki.test"
URL = f"http://{HOST}/index.html"
SEARCH = f"http://{HOST}/search?q={{words}}"
HTML = {"content-type": "text/html; charset=utf-8"}


class FolderWiki:
    """Implements `Site`: a folder's pages. `robots` is its robots.txt; `failures` are paths that fail, with how."""

    def __init__(self, folder: Path, robots: str = "") -> None:
        self._pages, self._robots = StaticSite({HOST: folder}), robots
        self.failures: dict[str, Response] = {}
        self.asked: list[str] = []
        self._texts = {
            path.relative_to(folder).as_posix(): parse_page("http://a.test/", path.read_text())
            for path in sorted(folder.rglob("*.html"))
        }

    async def answer(self, request: Request) -> Response:
        parts = urlsplit(request.url)
        self.asked.append(parts.path)
        if parts.path in self.failures:
            return self.failures[parts.path]
        if parts.path == "/robots.txt":
            return Response(200, self._robots.encode(), {"content-type": "text/plain"})
        if parts.path == "/search":
            return Response(200, self._results(parse_qs(parts.query)["q"][0]).encode(), HTML)
        return await self._pages.answer(request)

    def _results(self, words: str) -> str:
        wanted = set(re.findall(r"\w+", words.lower()))
        found = [
            f'<li><a href="/{path}">{page.title}</a></li>'
            for path, page in self._texts.items()
            if wanted <= set(re.findall(r"\w+", f"{page.title} {page.text}".lower()))
        ]
        return f'<html lang="en"><header><a href="/index.html">Home</a></header><ol>{"".join(found)}</ol></html>'


def as_source(site: Site) -> SiteSource:
    """A wiki as a live site."""
    return SiteSource("wiki", LiveSite(url=URL), URL, site)
