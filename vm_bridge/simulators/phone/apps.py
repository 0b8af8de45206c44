"""Which apps the phone has, and where their pages are."""

import json
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class App:
    """A program: its package, and the path under which its pages lie."""

    package: str
    path: str

    @property
    def activity(self) -> str:
        """What Android calls its first screen."""
        return f"{self.package}/.MainActivity"


@dataclass(frozen=True, slots=True)
class Apps:
    """Every app, the launcher apart, and the server of their pages and state."""

    server: Path
    port: int
    launcher: App
    installed: tuple[App, ...]

    def address(self, path: str) -> str:
        """Where a path is served."""
        return f"http://127.0.0.1:{self.port}{path}"

    def find(self, package: str) -> App | None:
        """The app of a package, the launcher included."""
        return next((app for app in (self.launcher, *self.installed) if app.package == package), None)

    def find_by_url(self, url: str) -> App:
        """The app a page belongs to; the launcher where it is nobody's."""
        path = urlsplit(url).path
        return next((app for app in self.installed if path.startswith(app.path)), self.launcher)


def read_apps(folder: Path) -> Apps:
    """What `manifest.json` of a folder names."""
    given = json.loads((folder / "manifest.json").read_text("utf-8"))
    return Apps(
        folder / given["server"]["program"],
        given["server"]["port"],
        App(given["launcher"]["package"], given["launcher"]["path"]),
        tuple(App(app["package"], app["path"]) for app in given["apps"]),
    )
