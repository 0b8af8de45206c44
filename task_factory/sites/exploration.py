"""What shows on a page after one click: menus, tabs, dialogs. A model that writes a script needs their names."""

import re
from collections.abc import Sequence

from protocol.actions.types import Click
from protocol.base import FrozenModel
from protocol.site_tasks import ElementRef
from task_factory.sites.crawler import SETTLE_MS, CrawledPage
from task_factory.sites.safety import element_reason
from task_factory.sites.sources import BoundedSite, SiteSource, fresh_site
from vm_bridge.browser import BrowserFailed, Engine
from vm_bridge.browser.action_executor import PageActionExecutor
from vm_bridge.errors import ActionFailed
from vm_bridge.suites.site_tasks.pages import PageElement, PageView, read_page

CLICKED_ROLES = ("button", "tab", "switch", "checkbox", "radio", "menuitem", "combobox")
MAX_CLICKS = 6
"""Elements of a page that are tried."""
MAX_SHOWN = 20
MAX_BYTES = 8 * 2**20


class Reveal(FrozenModel):
    """What one click shows that was not there before."""

    url: str
    """The page that is clicked on."""
    clicked: ElementRef
    shown: tuple[ElementRef, ...]


async def explore(engine: Engine, source: SiteSource, pages: Sequence[CrawledPage]) -> list[Reveal]:
    """Click what may open something, each on a fresh site. On a live site only what says that it is closed
    (`aria-expanded`), since clicks there cannot be taken back. Raises BrowserFailed where the browser ends."""
    found = list[Reveal]()
    tried = set[str]()
    for page in pages:
        for element in choose_clicks(page.view, live=source.is_live)[:MAX_CLICKS]:
            kind = _kind(element)
            if kind not in tried:
                tried.add(kind)
                shown = await _click(engine, source, page, element)
                found += [Reveal(url=page.url, clicked=_name(page.view, element), shown=shown)] if shown else []
    return found


def choose_clicks(view: PageView, *, live: bool) -> list[PageElement]:
    """What may be clicked to see what comes: shown, harmless, and one of those that differ by a number alone."""
    chosen: dict[str, PageElement] = {}
    for one in view.elements:
        if one.role not in CLICKED_ROLES or not one.is_control or not one.shown or element_reason(one):
            continue
        if not live or one.expanded is False:
            chosen.setdefault(_kind(one), one)
    return list(chosen.values())


async def _click(engine: Engine, source: SiteSource, page: CrawledPage, element: PageElement) -> tuple[ElementRef, ...]:
    site = BoundedSite(fresh_site(source), MAX_BYTES, read_only=source.is_live)
    session = await engine.open(site, size=source.size, seed=0, start_time=source.start_time)
    try:
        await session.goto(page.url)
        await session.settle(SETTLE_MS)
        await PageActionExecutor(session, {}).do(Click(x=element.x, y=element.y))
        await session.settle(SETTLE_MS)
        view = await read_page(session)
    except (BrowserFailed, ActionFailed):
        if engine.died.is_set():
            raise
        return ()
    finally:
        await session.close()
    before = {(one.role, one.name) for one in page.view.elements}
    new = [one for one in view.elements if (one.role, one.name) not in before and one.name]
    return tuple(dict.fromkeys(_name(view, one) for one in new))[:MAX_SHOWN]


def _name(view: PageView, element: PageElement) -> ElementRef:
    alike = [one for one in view.elements if (one.role, one.name) == (element.role, element.name)]
    return ElementRef(role=element.role, name=element.name, nth=alike.index(element) + 1)


def _kind(element: PageElement) -> str:
    return f"{element.role} {re.sub(r'[0-9]+', '0', element.name)}"
