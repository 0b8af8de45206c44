"""What a page shows, as checks, scripts and the crawler read it."""

import hashlib
import json
from pathlib import Path

from pydantic import ValidationError

from protocol.base import FrozenModel
from protocol.site_tasks import ElementRef
from vm_bridge.browser import ScriptFailed, Session

PAGE_SCRIPT = (Path(__file__).parent / "page.js").read_text(encoding="utf-8")


class ScrollTarget(FrozenModel):
    """Where the wheel must turn to bring an element into view, and by how far (pixels)."""

    x: int
    y: int
    by: int


class PageElement(FrozenModel):
    """An element that can be used, as it is now. Places are in pixels of the picture."""

    role: str
    name: str
    value: str | None
    """What a field holds; None where it is no field, or a secret one."""
    secret: bool
    x: int
    y: int
    width: int
    height: int
    shown: bool
    """Whether a click at its middle reaches it."""
    scroll: ScrollTarget | None
    focused: bool
    selected_all: bool
    """Whether typing would take the place of all it holds."""
    checked: bool | None
    pressed: bool | None
    expanded: bool | None
    selected: bool | None
    disabled: bool
    href: str
    dialog: str
    """The heading of the dialog it is in."""
    in_dialog: bool
    form: str
    """The heading of the form it is in."""
    form_method: str
    submit: str
    """What the button is called that sends its form."""
    submits: bool
    """Whether it is that button."""

    @property
    def is_link(self) -> bool:
        return self.role == "link" and bool(self.href)

    @property
    def is_control(self) -> bool:
        """Whether it does something other than to open an address or to hold others."""
        return not self.is_link and self.role not in ("region", "generic", "dialog") and not self.disabled


class PageView(FrozenModel):
    """What the open page shows."""

    url: str
    title: str
    width: int
    height: int
    language: str
    text: str
    """The visible words, white space as single spaces; its first 20,000 characters."""
    captcha: bool
    elements: tuple[PageElement, ...]
    """In the page's order; at most 400."""

    def find(self, wanted: ElementRef) -> PageElement | None:
        """The element of this role and name; None where there are not so many."""
        found = [one for one in self.elements if one.role == wanted.role and one.name == wanted.name]
        return found[wanted.nth - 1] if len(found) >= wanted.nth else None

    @property
    def mark(self) -> str:
        """A digest of all that it shows, without places, focus and scrolling."""
        shown = [
            (one.role, one.name, one.value, one.checked, one.pressed, one.expanded, one.selected, one.disabled)
            for one in self.elements
        ]
        told = json.dumps([self.url, self.text, shown], ensure_ascii=False)
        return hashlib.sha256(told.encode()).hexdigest()[:16]


async def read_page(session: Session) -> PageView:
    """What the active page shows. Changes nothing. Raises ScriptFailed."""
    said = await session.evaluate(PAGE_SCRIPT, world="own")
    try:
        return PageView.model_validate(said)
    except ValidationError as error:
        raise ScriptFailed(f"the page's report has another form: {error}") from error
