"""The page of a painted browser: an address, two tabs at most, a score that rises with each click."""

from dataclasses import dataclass, replace
from math import inf

from protocol.actions.types import Action, Click, ClosePage, Finish, Navigate, NavigateBack, SwitchPage, Wait
from protocol.trajectory.observations import BrowserPage, PageEvent, Tab
from protocol.trajectory.tasks import Task
from vm_bridge.errors import InvalidAction
from vm_bridge.machine import ExpertSuggestion

ACTION_KINDS = ("navigate", "navigate_back", "switch_page", "close_page")
HOME_URL = "http://fake.test/"
GOAL_CLICKS = 3
"""So many clicks end its game."""
ACTION_MS = 100.0
"""Its own time that an act takes."""


@dataclass(frozen=True, slots=True)
class FakeBrowser:
    """All it holds; every act makes another one."""

    seed: int = 0
    pace: float = 0.0
    time_ms: float = 0.0
    clicks: int = 0
    visited: tuple[str, ...] = (HOME_URL,)
    front: str = "page-1"
    popup: bool = False
    events: tuple[PageEvent, ...] = ()
    limit_ms: float = inf
    verifier_error: str | None = None

    @classmethod
    def started(cls, task: Task) -> "FakeBrowser":
        """The start of a task; its parameters may bound the page's time, or break what judges it."""
        match task.parameters:
            case {"limit_ms": float(limit_ms)}:
                return cls(seed=task.seed, limit_ms=limit_ms)
            case {"verifier_error": str(error)}:
                return cls(seed=task.seed, verifier_error=error)
        return cls(seed=task.seed)

    @property
    def url(self) -> str:
        """The address of the page in front."""
        return self.visited[-1] if self.front == "page-1" else f"{HOME_URL}popup"

    def page(self) -> BrowserPage:
        """How it stands."""
        ids = ("page-1", "page-2") if self.popup else ("page-1",)
        return BrowserPage(
            title=f"Fake page {self.clicks}",
            clock="exact",
            seed=self.seed,
            time_ms=self.time_ms,
            pace=self.pace,
            score=float(self.clicks),
            level=1,
            done=self.clicks >= GOAL_CLICKS,
            truncated=self.clicks < GOAL_CLICKS and self.time_ms >= self.limit_ms,
            success=True if self.clicks >= GOAL_CLICKS else None,
            verifier_error=self.verifier_error,
            tabs=tuple(Tab(id=id, title=id, url=self.url, active=id == self.front) for id in ids),
            events=self.events,
        )

    def after_action(self, action: Action) -> "FakeBrowser":
        """What an act makes of it: navigating to “popup” opens a second page. Raises InvalidAction."""
        spent = action.seconds * 1000 if isinstance(action, Wait) else ACTION_MS
        now = replace(self, time_ms=self.time_ms + spent, events=())
        match action:
            case Click():
                return replace(now, clicks=self.clicks + 1)
            case Navigate(url=url) if url.endswith("popup"):
                opened = PageEvent(kind="popup", text=f"{url} opened in a page of its own")
                return replace(now, popup=True, front="page-2", events=(opened,))
            case Navigate(url=url):
                return replace(now, visited=(*self.visited, url))
            case NavigateBack():
                return replace(now, visited=self.visited[:-1] or self.visited)
            case SwitchPage(page=page):
                self._check(page)
                return replace(now, front=page)
            case ClosePage(page=page):
                self._check(page or self.front)
                if not self.popup:
                    raise InvalidAction("the last page cannot be closed")
                return replace(now, popup=False, front="page-1")
        return now

    def suggest_expert_action(self) -> ExpertSuggestion:
        """Click until the game ends."""
        if self.clicks >= GOAL_CLICKS:
            return ExpertSuggestion(thought="The game is over.", action=Finish())
        return ExpertSuggestion(
            thought=f"Click {self.clicks + 1} of {GOAL_CLICKS}.", action=Click(x=100 + 50 * self.clicks, y=200)
        )

    def _check(self, page: str) -> None:
        if page not in {tab.id for tab in self.page().tabs}:
            raise InvalidAction(f"no page {page} is open")
