"""The API of OSWorld's in-guest server, as its callers know it, over a simulated desktop.

Of its own it has one call more, `/simulator/revert`: what a provider of virtual machines does from outside.
"""

import threading

from vm_bridge.guest.osworld.api import Call, GuestApi, Reply, text_reply
from vm_bridge.simulators.osworld.desktop import Desktop


class SimulatorApi(GuestApi):
    """The calls of one simulated desktop."""

    def __init__(self, desktop: Desktop, system: str = "Linux") -> None:
        """`system` is what the guest says that it is; it is Linux in any case."""
        super().__init__(desktop)
        self.handlers["GET", "/platform"] = lambda call: text_reply(system)
        self._simulated, self._changing = desktop, threading.Lock()
        self.handlers["POST", "/simulator/revert"] = self.revert

    def revert(self, call: Call) -> Reply:
        """Back to the first state."""
        with self._changing:
            self._simulated.revert()
        return text_reply("reverted")

    def screenshot(self, call: Call) -> Reply:
        """Not while the desktop is put back."""
        with self._changing:
            return super().screenshot(call)
