"""Every suite that comes with the bridge, by name."""

from vm_bridge.errors import UnknownTask
from vm_bridge.suites import Suite
from vm_bridge.suites.desktop import DESKTOP
from vm_bridge.suites.miniwob.suite import MiniWob
from vm_bridge.suites.phone import PhoneSuite
from vm_bridge.suites.scenes import WebSuite
from vm_bridge.suites.terminal import TERMINAL
from vm_bridge.suites.web import GAMES, SITES

SUITES: dict[str, Suite] = {"desktop": DESKTOP, "phone": PhoneSuite(), "terminal": TERMINAL}
WEB_SUITES: dict[str, WebSuite] = {"games": GAMES, "sites": SITES, "miniwob": MiniWob()}
"""Those whose tasks are played in a browser."""


def suite_named(name: str) -> Suite | WebSuite:
    """The suite of this name. Raises UnknownTask."""
    suite = SUITES.get(name) or WEB_SUITES.get(name)
    if suite is None:
        raise UnknownTask(f"there is no suite {name}")
    return suite
