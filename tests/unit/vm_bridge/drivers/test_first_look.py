"""A desktop that has just been put in the place of another is looked at once it has come to rest."""

from typing import Any, cast

from vm_bridge.drivers.computer.driver import ComputerDriver
from vm_bridge.drivers.computer.guest_link import GuestLink, ObserveReply


class RestedGuest:
    """A guest that is at rest whenever it is asked to wait for that, and notes whether it was."""

    def __init__(self) -> None:
        self.settled: list[bool] = []

    async def call(self, name: str, answer: type[ObserveReply], *, settle: bool, **given: Any) -> ObserveReply:
        self.settled.append(settle)
        return answer(after=None, rest="rested" if settle else "skipped", settle_ms=0.0)


async def test_each_guest_is_waited_for_once() -> None:
    driver = ComputerDriver({})
    for _ in range(2):
        guest = RestedGuest()
        driver.attach(cast(GuestLink, guest), None, 1)
        for _ in range(2):
            await driver.fingerprint(1, digest=False)
        assert guest.settled == [True, False]
