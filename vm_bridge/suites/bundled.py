"""Every suite that comes with the bridge, by name."""

from vm_bridge.errors import UnknownTask
from vm_bridge.suites import Suite
from vm_bridge.suites.desktop import DESKTOP
from vm_bridge.suites.phone import PhoneSuite
from vm_bridge.suites.terminal import TERMINAL

SUITES: dict[str, Suite] = {"desktop": DESKTOP, "phone": PhoneSuite(), "terminal": TERMINAL}


def suite_named(name: str) -> Suite:
    """The suite of this name. Raises UnknownTask."""
    suite = SUITES.get(name)
    if suite is None:
        raise UnknownTask(f"there is no suite {name}")
    return suite
