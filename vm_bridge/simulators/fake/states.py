"""Earlier states of a painted machine: a picture is so small that each is kept whole."""

import secrets
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, datetime

from protocol.actions.types import Action
from protocol.trajectory.observations import MachineSnapshot
from vm_bridge.errors import CannotRestore
from vm_bridge.simulators.fake.browser import FakeBrowser
from vm_bridge.simulators.fake.screen import Pixels

MAX_STATES = 16


@dataclass(frozen=True, slots=True)
class FakeState:
    """Everything an act can change."""

    pixels: Pixels
    typed: str
    clipboard: str
    files: dict[str, bytes]
    terminals: dict[str, str]
    acts: tuple[Action, ...]
    browser: FakeBrowser | None


class FakeStates:
    """The latest states, from one set-up of a task to the next."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, FakeState] = OrderedDict()

    def forget(self) -> None:
        """A fresh machine: no state before it can be returned to."""
        self._kept.clear()

    def keep(self, state: FakeState) -> MachineSnapshot:
        """A name for a state."""
        name = secrets.token_hex(8)
        self._kept[name] = state
        while len(self._kept) > MAX_STATES:
            self._kept.popitem(last=False)
        return MachineSnapshot(id=name, acts=len(state.acts), taken_at=datetime.now(UTC))

    def find(self, snapshot: MachineSnapshot) -> FakeState:
        """Raises CannotRestore when it is no longer kept."""
        try:
            return self._kept[snapshot.id]
        except KeyError:
            raise CannotRestore("that state is of another set-up of the machine, or too long ago") from None
