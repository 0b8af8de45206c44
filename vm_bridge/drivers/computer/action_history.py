"""What was done to a machine since its task was set up, so that an earlier state can be made again."""

import secrets
from collections import OrderedDict
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from protocol.actions.types import Action, RunCommand
from protocol.trajectory.observations import MachineSnapshot
from vm_bridge.errors import CannotRestore

MAX_ACTIONS = 200
"""Longest way back that is gone."""
MAX_SNAPSHOTS = 64
"""How many states, the latest, can be returned to: the pictures of older ones are not kept."""


@dataclass(frozen=True, slots=True)
class RecordedAction:
    """An act, and how it ended: None, or the code of its error."""

    action: Action
    settle: bool
    failed: str | None


@dataclass(frozen=True, slots=True)
class StateFingerprint:
    """How a state is told from others: its picture as a file, and the digest of the person's files where one was
    taken."""

    picture: bytes | None
    digest: str | None = None


@dataclass(frozen=True, slots=True)
class ReplayPath:
    """The acts that lead to a state, the state before each as far as it is known, and that state itself."""

    recorded_actions: tuple[RecordedAction, ...]
    states: tuple[StateFingerprint | None, ...]
    end: StateFingerprint


class ActionHistory:
    """From one set-up of a task to the next."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """A fresh machine: snapshots taken so far mean nothing any more."""
        self._name = secrets.token_hex(8)
        self._recorded_actions: list[RecordedAction] = []
        self._moments: OrderedDict[int, StateFingerprint] = OrderedDict()
        self._lost = False

    def note(self, before: StateFingerprint, recorded: RecordedAction) -> None:
        """An act was done in this state."""
        known = self._moments.get(len(self._recorded_actions))
        if known is None or known.picture != before.picture:
            self._remember(before)
        self._recorded_actions.append(recorded)

    def commands(self) -> tuple[str, ...]:
        """The command lines that were run, in order."""
        actions = (recorded.action for recorded in self._recorded_actions)
        return tuple(action.command for action in actions if isinstance(action, RunCommand))

    def mark_not_replayable(self) -> None:
        """An act was done of which nobody knows whether it happened: no state after it can be made again."""
        self._lost = True

    def snapshot(self, now: StateFingerprint) -> MachineSnapshot:
        """A name for the present state."""
        self._remember(now)
        acts = len(self._recorded_actions)
        return MachineSnapshot(id=f"{self._name}-{acts}", acts=acts, taken_at=datetime.now(UTC))

    def path_to(self, snapshot: MachineSnapshot) -> ReplayPath:
        """From the set-up to a state. Raises CannotRestore."""
        moment = self._moments.get(snapshot.acts)
        if snapshot.id != f"{self._name}-{snapshot.acts}" or moment is None:
            raise CannotRestore("that state is of another set-up of the machine, or too long ago")
        if self._lost:
            raise CannotRestore("whether an act happened is not known")
        if snapshot.acts > MAX_ACTIONS:
            raise CannotRestore(f"more than {MAX_ACTIONS} acts lie before that state")
        recorded_actions = tuple(self._recorded_actions[: snapshot.acts])
        return ReplayPath(recorded_actions, tuple(map(self._moments.get, range(len(recorded_actions)))), moment)

    def go_back(self, snapshot: MachineSnapshot) -> None:
        """The machine is in that state again."""
        del self._recorded_actions[snapshot.acts :]
        for later in [acts for acts in self._moments if acts > snapshot.acts]:
            del self._moments[later]

    def _remember(self, moment: StateFingerprint) -> None:
        acts = len(self._recorded_actions)
        known = self._moments.get(acts)
        if moment.digest is None and known is not None:
            moment = replace(moment, digest=known.digest)
        self._moments[acts] = moment
        while len(self._moments) > MAX_SNAPSHOTS:
            self._moments.popitem(last=False)
