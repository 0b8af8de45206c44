"""Every command once: what was done under an id is remembered, and given again to whoever sends it again."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from vm_bridge.errors import BridgeError, CommandConflict, OutcomeUnknown
from vocabulary.actions import Action
from vocabulary.observations import Transition

KEPT = 1024
"""Results kept for resends."""


@dataclass(slots=True)
class _Command:
    """A command taken before, and the run that does or did it."""

    action: Action
    settle: bool
    run: asyncio.Task[Transition]


class Journal:
    """The commands of one machine."""

    def __init__(self) -> None:
        self._commands: OrderedDict[str, _Command] = OrderedDict()

    async def once(
        self, command_id: str, action: Action, *, settle: bool, act: Callable[[], Awaitable[Transition]]
    ) -> Transition:
        """The result of `act`, which is begun only where this command is new. It goes on when the caller goes away.

        Raises CommandConflict when another action was sent under this id, and whatever `act` raises.
        """
        known = self._commands.get(command_id)
        if known is None:
            known = _Command(action, settle, asyncio.ensure_future(act()))
            known.run.add_done_callback(lambda run: self._forget_refused(command_id, run))
            self._commands[command_id] = known
            while len(self._commands) > KEPT:
                self._commands.popitem(last=False)
        elif (known.action, known.settle) != (action, settle):
            raise CommandConflict(f"command {command_id} was sent before with another action")
        return await asyncio.shield(known.run)

    def _forget_refused(self, command_id: str, run: asyncio.Task[Transition]) -> None:
        """What changed nothing may be asked for again; what may have happened stays unknown for good."""
        failure = None if run.cancelled() else run.exception()
        if run.cancelled() or (isinstance(failure, BridgeError) and not isinstance(failure, OutcomeUnknown)):
            self._commands.pop(command_id, None)
