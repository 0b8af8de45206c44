"""The tools of an image's own MCP servers, listed once for all its machines."""

import asyncio
import logging

from protocol.actions.tools import Tool
from vm_bridge.drivers.computer.guest_link import GuestLink
from vm_bridge.drivers.computer.machine_io import GuestIO
from vm_bridge.errors import BridgeError, InvalidAction, MachineGone, StaleLease

logger = logging.getLogger(__name__)

WARM_UP_SECONDS = 1.0
"""Delay before known servers start: the first observation needs the processors."""


class ToolCatalog:
    """Filled only by a machine on which nothing was done.

    What a task or a lease holder puts into a sandbox can make its servers offer anything.
    """

    def __init__(self) -> None:
        self.tools: tuple[Tool, ...] = ()
        self._failed = False
        """Whether a server did not start on a new machine; then each machine lists its own tools."""

    async def fill(self, link: GuestLink, fence: int) -> None:
        """List the tools before a task brings anything to the machine that could change them."""
        if self.tools or self._failed or not link.pristine:
            return
        try:
            found = await GuestIO(link, fence).list_tools()
        except InvalidAction as error:
            logger.warning("the tools of the image cannot be listed: %s", error)
            self._failed = True
            return
        if found.failures:
            self._failed = True
        elif link.pristine:
            self.tools = found.tools

    async def start_servers(self, link: GuestLink, fence: int) -> None:
        """Start the servers of known tools. If they offer something else, the next machine lists them."""
        await asyncio.sleep(WARM_UP_SECONDS)
        try:
            found = (await GuestIO(link, fence).list_tools()).tools
        except (MachineGone, StaleLease):
            return  # the lease or the machine has ended
        except BridgeError as error:
            logger.warning("the MCP servers did not start ahead: %s", error)
            found = ()
        if found != self.tools:
            logger.warning("the tools of a machine differ from those known of its image, which are listed again")
            self.tools = ()
