"""Pages as a browser would tell of them."""

from typing import Any

from task_factory.sites.crawler import CrawledPage
from vm_bridge.suites.site_tasks.pages import PageElement, PageView

PLAIN: dict[str, Any] = {
    **{"value": None, "secret": False, "x": 50, "y": 20, "width": 80, "height": 24, "shown": True, "scroll": None},
    **{"focused": False, "selected_all": True, "checked": None, "pressed": None, "expanded": None, "selected": None},
    **{"disabled": False, "href": "", "dialog": "", "in_dialog": False, "form": "", "form_method": "", "submit": ""},
    "submits": False,
}


def make_element(role: str, name: str, **fields: Any) -> PageElement:
    """An element that is shown and does nothing special, but for the given fields."""
    return PageElement.model_validate({"role": role, "name": name, **PLAIN, **fields})


def make_view(*elements: PageElement, url: str = "http://trips.test/", text: str = "") -> PageView:
    """A page with these elements."""
    return PageView(
        url=url, title="Trips", width=800, height=600, language="en", text=text, captcha=False, elements=elements
    )


def make_page(*elements: PageElement) -> CrawledPage:
    """A page that was visited."""
    view = make_view(*elements)
    return CrawledPage(url=view.url, title=view.title, depth=0, status=200, text_length=0, view=view)
