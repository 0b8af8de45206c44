"""Browser tasks that come with the bridge: their format, their sites, and the check that they keep it."""

from pathlib import Path

from vm_bridge.suites.web.suite import FolderSuite
from vm_bridge.suites.web.task_folder import KIT

HOME = Path(__file__).parent.parent
GAMES = FolderSuite("games", HOME / "games")
SITES = FolderSuite("sites", HOME / "sites")
DRILLS = FolderSuite("drills", HOME / "drills", kit=HOME / "sites" / KIT)
"""They are made with the kit of the sites."""
MADE_GAMES = FolderSuite("made_games", HOME / "made_games", kit=HOME / "made_games" / KIT)
"""Games that a language model wrote, with their origin beside them."""

__all__ = ["DRILLS", "GAMES", "HOME", "MADE_GAMES", "SITES", "FolderSuite"]
