"""Whether the agent of a booted image is as it should be."""

from dataclasses import dataclass, field

from vm_bridge.drivers.computer.guest_link import GuestLink
from vm_bridge.errors import MachineGone
from vm_bridge.windows_image.settings import Screen

DIAL_SECONDS = 10.0
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class AgentCheck:
    """Asks the agent behind a port of the loopback."""

    port: int
    secret: str = field(repr=False)
    screen: Screen

    async def problem(self) -> str | None:
        """None for an agent that proves that it knows the secret and has the screen; else what is wrong."""
        try:
            link = await GuestLink.dial(LOOPBACK, self.port, self.secret, timeout=DIAL_SECONDS)
        except MachineGone as error:
            return str(error)
        try:
            state = await link.ready(DIAL_SECONDS)
        except MachineGone as error:
            return str(error)
        finally:
            link.close()
        if (state.width, state.height) != (self.screen.width, self.screen.height):
            return f"its screen is {state.width}x{state.height}, not {self.screen.width}x{self.screen.height}"
        return None
