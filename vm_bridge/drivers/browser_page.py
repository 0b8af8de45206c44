"""What an observation says of a browser's pages."""

from collections import Counter
from dataclasses import dataclass

from vm_bridge.browser import GivenFile, Happening, Session
from vm_bridge.browser.files import Chooser
from vm_bridge.suites.scenes import Standing
from vocabulary.observations import BrowserPage, FileChooser, OfferedFile, PageEvent, PageEventKind, Tab

MOST_EVENTS, MOST_TEXT = 40, 300
MOST_ALIKE = 4
"""Events of one kind that are told one by one."""
MOST_TABS = 32
MOST_URL = 2_000
KINDS: dict[str, PageEventKind] = {
    "page_error": "script_error",
    "crashed": "crashed",
    "dialog": "dialog",
    "download": "download",
    "popup": "popup",
    "popup_refused": "popup_refused",
    "closed": "closed",
    "navigated": "navigated",
    "request_failed": "load_failed",
    "request_refused": "load_failed",
    "file_chooser": "file_chooser",
    "permission": "permission",
    "print": "print",
    "hung": "limit",
    "dropped": "limit",
}
"""What people are told of; a page's own notes to its developers are not among them."""


@dataclass(frozen=True, slots=True)
class Told:
    """What the session itself does not know."""

    standing: Standing
    limit_ms: float
    pace: float
    news: tuple[PageEvent, ...]
    files: tuple[GivenFile, ...]


def page_of(session: Session, told: Told) -> tuple[BrowserPage, str]:
    """How the pages stand, and the address of the active one; events are given once."""
    active = session.active
    tabs = tuple(
        Tab(id=page.id, title=page.title[:MOST_TEXT], url=page.url[:MOST_URL], active=page is active)
        for page in session.pages[:MOST_TABS]
    )
    page = BrowserPage(
        title=active.title[:MOST_TEXT],
        clock=session.clock.value,
        seed=session.seed,
        time_ms=session.now_ms,
        pace=told.pace,
        score=told.standing.score,
        level=told.standing.level,
        done=told.standing.done,
        truncated=not told.standing.done and session.now_ms >= told.limit_ms,
        success=told.standing.success,
        verifier_error=told.standing.verifier_error and told.standing.verifier_error[:MOST_TEXT],
        tabs=tabs,
        chooser=_chooser(active.chooser, told.files),
        events=(*told.news, *_events(session.take_events()))[-MOST_EVENTS:],
    )
    return page, active.url[:MOST_URL]


def _chooser(asked: Chooser | None, files: tuple[GivenFile, ...]) -> FileChooser | None:
    if asked is None:
        return None
    offered = (OfferedFile(name=file.name, media_type=file.media_type, size=len(file.data)) for file in files)
    return FileChooser(several=asked.several, files=tuple(offered))


def _events(happenings: tuple[Happening, ...]) -> list[PageEvent]:
    """A few of each kind, and how many more there were."""
    told: list[PageEvent] = []
    more: Counter[PageEventKind] = Counter()
    for one in happenings:
        kind = KINDS.get(one.kind)
        if kind is None:
            continue
        more[kind] += 1
        if more[kind] <= MOST_ALIKE:
            told.append(PageEvent(kind=kind, text=one.text[:MOST_TEXT]))
    left = {kind: count - MOST_ALIKE for kind, count in more.items() if count > MOST_ALIKE}
    return [*told, *(PageEvent(kind=kind, text=f"{count} more") for kind, count in left.items())]
