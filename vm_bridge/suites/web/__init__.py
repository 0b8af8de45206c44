"""Browser tasks that come with the bridge: their format, their sites, and the check that they keep it."""

from pathlib import Path

from vm_bridge.suites.web.suite import FolderSuite

HOME = Path(__file__).parent.parent
GAMES = FolderSuite("games", HOME / "games")
SITES = FolderSuite("sites", HOME / "sites")

__all__ = ["GAMES", "SITES", "FolderSuite"]
