"""Privacy rules: which windows must not be recorded, and when recording may resume."""

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from .clocks import MS
from .events import GapReason

REOPEN_NS = 500 * MS
"""The screen must be free of excluded windows for this long before recording resumes: windows fade out, others repaint.
"""
DEFAULT_APPS = (
    "keepass*",
    "bitwarden",
    "1password",
    "enpass",
    "*pinentry*",
    "*askpass*",
    "seahorse",
    "gcr-prompter",
    "*polkit*",
    "gnome-keyring*",
    "kwalletmanager*",
    "*kwalletd*",
    "credentialuibroker",
    "logonui",
    "securityagent",
    "keychain access",
    "passwords",
)
"""Password managers, and the password prompts of Linux, Windows and macOS."""
DEFAULT_TITLES = ("*private browsing*", "*incognito*", "*inprivate*", "*无痕*", "*隐私浏览*", "*隐身模式*")
"""Private windows of browsers, in English and Chinese."""


@dataclass(frozen=True)
class WindowInfo:
    """A window as its program describes it. `client` identifies the program: its X server connection, or its
    process."""

    client: int
    classes: tuple[str, ...]
    """In lower case: both parts of WM_CLASS on X11; the program's name on macOS; the program's name and the window's
    class on Windows. Empty if there is none.
    """
    title: str
    visible: bool
    top_level: bool
    """Whether it is a top-level window, as menus and tooltips are."""


@dataclass(frozen=True)
class ExclusionRules:
    """Case-insensitive patterns with `*` and `?`: for the window's classes (`apps`), and for its title (`titles`)."""

    apps: tuple[str, ...] = DEFAULT_APPS
    titles: tuple[str, ...] = DEFAULT_TITLES

    def matches_app(self, window: WindowInfo) -> bool:
        """Whether the window belongs to an excluded application."""
        return any(fnmatchcase(name, pattern.lower()) for name in window.classes for pattern in self.apps)

    def matches_title(self, window: WindowInfo) -> bool:
        """Whether the title excludes the window."""
        title = window.title.lower()
        return any(fnmatchcase(title, pattern.lower()) for pattern in self.titles)


def is_excluded(windows: Iterable[WindowInfo], rules: ExclusionRules) -> bool:
    """Whether any monitor shows an excluded window, focused or not.

    Menus and tooltips of an excluded application count too. They often have no class.
    """
    all_windows = tuple(windows)
    clients = {window.client for window in all_windows if rules.matches_app(window)}
    return any(
        rules.matches_app(window) or rules.matches_title(window) or (window.top_level and window.client in clients)
        for window in all_windows
        if window.visible
    )


class Gate:
    """Whether recording is open. It closes immediately and reopens after `REOPEN_NS` without a reason."""

    def __init__(self) -> None:
        self._clear_since: int | None = None
        self.reason: GapReason | None = "excluded"
        """Why it is closed; None while it is open. It is closed until the first checks."""

    @property
    def open(self) -> bool:
        """Whether events and frames may be kept."""
        return self.reason is None

    def update(self, now_ns: int, reason: GapReason | None) -> bool:
        """Update the state from what the screen shows now. Returns whether it opened or closed."""
        was_open = self.open
        if reason is not None:
            self._clear_since, self.reason = None, reason
        elif not was_open:
            self._clear_since = now_ns if self._clear_since is None else self._clear_since
            if now_ns - self._clear_since >= REOPEN_NS:
                self.reason = None
        return was_open != self.open
