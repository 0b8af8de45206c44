"""Whether what a question relies on still stands on its pages."""

from collections.abc import Iterable
from typing import Literal

from protocol.base import FrozenModel
from task_factory.questions.records import KeptQuestion, ReliedPage
from task_factory.questions.source import WIKI_BOUNDS, fetch_page
from task_factory.questions.values import facts_of
from task_factory.sites.sources import BoundedSite, SiteSource, fresh_site


class Freshness(FrozenModel):
    """How a question stands.

    `fresh`: its pages are as they were, or what it relies on is. `stale`: a page says otherwise, or is gone.
    `unknown`: a page did not come.
    """

    id: str
    state: Literal["fresh", "stale", "unknown"]
    reasons: tuple[str, ...] = ()
    changed_pages: tuple[str, ...] = ()
    """Pages with other words than before, whether or not they matter."""


async def check_freshness(site: SiteSource, questions: Iterable[KeptQuestion]) -> list[Freshness]:
    """Read the pages of questions again, each page once. Other pages are not read: that a further thing now satisfies a
    question is not seen."""
    bounded, known = BoundedSite(fresh_site(site), WIKI_BOUNDS.max_bytes, read_only=True), dict[str, _Page]()
    found = list[Freshness]()
    for question in questions:
        for relied in question.pages:
            if relied.url not in known:
                known[relied.url] = await _read(bounded, relied.url)
        found.append(_compare(question, known))
    return found


class _Page(FrozenModel):
    state: Literal["here", "gone", "unknown"]
    title: str = ""
    digest: str = ""
    rows: dict[str, str] = {}


async def _read(site: BoundedSite, url: str) -> _Page:
    page = await fetch_page(site, url)
    if isinstance(page, str):
        status = site.statuses.get(url, 0)
        return _Page(state="gone" if page == "no_html" or 400 <= status < 500 else "unknown")
    rows = {label: row.text for label, row in facts_of(page).items()}
    return _Page(state="here", title=page.title, digest=page.digest, rows=rows)


def _compare(question: KeptQuestion, pages: dict[str, _Page]) -> Freshness:
    reasons, changed, unknown = list[str](), list[str](), list[str]()
    for relied in question.pages:
        page = pages[relied.url]
        if page.state == "unknown":
            unknown.append(f"{relied.url} did not come")
        elif page.state == "gone":
            reasons.append(f"{relied.url} is gone")
        elif page.digest != relied.digest:
            changed.append(relied.url)
            reasons += _differences(relied, page)
    state: Literal["fresh", "stale", "unknown"] = "stale" if reasons else "unknown" if unknown else "fresh"
    return Freshness(id=question.id, state=state, reasons=(*reasons, *unknown), changed_pages=tuple(changed))


def _differences(relied: ReliedPage, page: _Page) -> list[str]:
    found = [] if page.title == relied.title else [f"{relied.url} is now called {page.title}"]
    for label, text in relied.rows.items():
        if page.rows.get(label) != text:
            found.append(f"{relied.url} says {page.rows.get(label, 'nothing')} for {label}, not {text}")
    return found
