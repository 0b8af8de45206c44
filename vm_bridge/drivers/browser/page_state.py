"""Builds an observation's part on a browser's pages."""

from collections import Counter
from dataclasses import dataclass

from protocol.trajectory.observations import BrowserPage, FileChooser, OfferedFile, PageEvent, PageEventKind, Tab
from vm_bridge.browser import BrowserEvent, FilePayload, Session
from vm_bridge.browser.files import FileChooserRequest
from vm_bridge.suites.web_suite import TaskProgress

MAX_EVENTS, MAX_TEXT = 40, 300
MAX_EVENTS_PER_KIND = 4
"""Maximum events of one kind that are listed individually."""
MAX_TABS = 32
MAX_URL = 2_000
MAX_DESCRIPTION = 4_000
EVENT_KINDS: dict[str, PageEventKind] = {
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
"""Event kinds shown to people, without a page's own console notes."""


@dataclass(frozen=True, slots=True)
class PageContext:
    """Context that the session itself does not have."""

    progress: TaskProgress
    limit_ms: float
    pace: float
    news: tuple[PageEvent, ...]
    files: tuple[FilePayload, ...]


def build_page_state(session: Session, told: PageContext) -> tuple[BrowserPage, str]:
    """The state of the pages, and the URL of the active one. Each event is returned once."""
    active = session.active
    tabs = tuple(
        Tab(id=page.id, title=page.title[:MAX_TEXT], url=page.url[:MAX_URL], active=page is active)
        for page in session.pages[:MAX_TABS]
    )
    page = BrowserPage(
        title=active.title[:MAX_TEXT],
        clock=session.clock.value,
        seed=session.seed,
        time_ms=session.now_ms,
        pace=told.pace,
        score=told.progress.score,
        level=told.progress.level,
        done=told.progress.done,
        truncated=not told.progress.done and session.now_ms >= told.limit_ms,
        success=told.progress.success,
        verifier_error=told.progress.verifier_error and told.progress.verifier_error[:MAX_TEXT],
        description=told.progress.description and told.progress.description[:MAX_DESCRIPTION],
        tabs=tabs,
        chooser=_chooser(active.chooser, told.files),
        events=(*told.news, *_events(session.take_events()))[-MAX_EVENTS:],
    )
    return page, active.url[:MAX_URL]


def _chooser(requested: FileChooserRequest | None, files: tuple[FilePayload, ...]) -> FileChooser | None:
    if requested is None:
        return None
    offered = (OfferedFile(name=file.name, media_type=file.media_type, size=len(file.data)) for file in files)
    return FileChooser(several=requested.several, files=tuple(offered))


def _events(browser_events: tuple[BrowserEvent, ...]) -> list[PageEvent]:
    """A few events of each kind, and the number of further ones."""
    told: list[PageEvent] = []
    more: Counter[PageEventKind] = Counter()
    for one in browser_events:
        kind = EVENT_KINDS.get(one.kind)
        if kind is None:
            continue
        more[kind] += 1
        if more[kind] <= MAX_EVENTS_PER_KIND:
            told.append(PageEvent(kind=kind, text=one.text[:MAX_TEXT]))
    left = {kind: count - MAX_EVENTS_PER_KIND for kind, count in more.items() if count > MAX_EVENTS_PER_KIND}
    return [*told, *(PageEvent(kind=kind, text=f"{count} more") for kind, count in left.items())]
