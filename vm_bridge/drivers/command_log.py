"""Idempotency log of a machine: a repeated command returns its stored result. Also the action history for restoring
states.
"""

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from protocol.actions.types import Action, RunCommand
from protocol.base import FrozenModel
from protocol.trajectory.observations import MachineSnapshot, Transition
from vm_bridge.errors import BridgeError, CannotRestore, CommandConflict, OutcomeUnknown

MAX_COMMANDS = 1024
"""Maximum stored results."""
MAX_LINES = 4 * MAX_COMMANDS
"""A file with more lines is rewritten."""


class CommandLogLine(FrozenModel):
    """A command's line in the file: first its intent, later also its outcome."""

    id: str
    action: Action
    settle: bool
    done: Transition | None = None
    refused: bool = False
    """Whether it ended without any change."""


@dataclass(slots=True)
class _Command:
    """An accepted command, and the run that executes or executed it."""

    action: Action
    settle: bool
    run: asyncio.Future[Transition]


class CommandLog:
    """The commands of one machine. With a `file` it includes those of an earlier process, which may have ended in the
    midst of one.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._commands: OrderedDict[str, _Command] = OrderedDict()
        self._file, self._lines = file, 0
        if file is not None and file.exists():
            self._commands.update((line.id, _restored_command(line)) for line in _read_lines(file))
            self._write_anew()

    async def once(
        self, command_id: str, action: Action, *, settle: bool, act: Callable[[], Awaitable[Transition]]
    ) -> Transition:
        """The result of `act`, which starts only if this command is new. It continues if the caller is cancelled.

        Raises CommandConflict if another action was sent under this id, and the errors of `act`.
        """
        known = self._commands.get(command_id)
        if known is None:
            self._append(
                CommandLogLine(id=command_id, action=action, settle=settle)
            )  # the intent is logged before the action
            known = _Command(action, settle, asyncio.ensure_future(act()))
            known.run.add_done_callback(lambda run: self._note(command_id, run))
            self._commands[command_id] = known
            while len(self._commands) > MAX_COMMANDS:
                self._commands.popitem(last=False)
        elif (known.action, known.settle) != (action, settle):
            raise CommandConflict(f"command {command_id} was sent before with another action")
        return await asyncio.shield(known.run)

    def _note(self, command_id: str, run: asyncio.Future[Transition]) -> None:
        """Log the outcome. A command that changed nothing may be retried; one that may have happened stays unknown."""
        command = self._commands.get(command_id)
        if command is None:
            return
        line = CommandLogLine(id=command_id, action=command.action, settle=command.settle)
        failure = None if run.cancelled() else run.exception()
        if run.cancelled() or (isinstance(failure, BridgeError) and not isinstance(failure, OutcomeUnknown)):
            del self._commands[command_id]
            self._append(line.model_copy(update={"refused": True}))
        elif failure is None:
            self._append(line.model_copy(update={"done": run.result()}))

    def _append(self, line: CommandLogLine) -> None:
        if self._file is None:
            return
        self._lines += 1
        if self._lines > MAX_LINES:
            self._write_anew()
        # The folder of a destroyed machine is gone; the action fails because the machine is gone.
        with suppress(FileNotFoundError), self._file.open("a", encoding="utf-8") as file:
            file.write(line.model_dump_json() + "\n")

    def _write_anew(self) -> None:
        """Rewrite the file with one line per command."""
        assert self._file is not None
        fresh = self._file.with_suffix(".writing")
        with fresh.open("w", encoding="utf-8") as file:
            for name, command in self._commands.items():
                ended = command.run.done() and not command.run.cancelled() and command.run.exception() is None
                done = command.run.result() if ended else None
                line = CommandLogLine(id=name, action=command.action, settle=command.settle, done=done)
                file.write(line.model_dump_json() + "\n")
        fresh.replace(self._file)
        self._lines = len(self._commands)


def _read_lines(file: Path) -> Iterable[CommandLogLine]:
    """The last line of each of the latest commands. Ignores an incomplete line from a process that ended while
    writing."""
    found: OrderedDict[str, CommandLogLine] = OrderedDict()
    for text in file.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            line = CommandLogLine.model_validate_json(text)
        except ValidationError:
            continue
        found[line.id] = line
    return [line for line in list(found.values())[-MAX_COMMANDS:] if not line.refused]


def _restored_command(line: CommandLogLine) -> _Command:
    run: asyncio.Future[Transition] = asyncio.get_running_loop().create_future()
    if line.done is not None:
        run.set_result(line.done)
    else:
        run.set_exception(OutcomeUnknown("the bridge ended while this was done"))
        run.exception()  # may be unobserved
    return _Command(line.action, line.settle, run)


MAX_ACTIONS = 200
"""Maximum actions of a replay."""


MAX_SNAPSHOTS = 64
"""Number of latest states that can be restored: older pictures are not kept."""


@dataclass(frozen=True, slots=True)
class RecordedAction:
    """An action and its outcome: None, or the code of its error."""

    action: Action
    settle: bool
    failed: str | None


@dataclass(frozen=True, slots=True)
class StateFingerprint:
    """Identifies a state: its picture as a file, and the digest of the person's files if one was taken."""

    picture: bytes | None
    digest: str | None = None


@dataclass(frozen=True, slots=True)
class ReplayPath:
    """The actions that lead to a state, the known states before each, and that state."""

    recorded_actions: tuple[RecordedAction, ...]
    states: tuple[StateFingerprint | None, ...]
    end: StateFingerprint


class ActionHistory:
    """Covers one task set-up to the next."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Start a fresh machine: earlier snapshots become invalid."""
        self._name = secrets.token_hex(8)
        self._recorded_actions: list[RecordedAction] = []
        self._moments: OrderedDict[int, StateFingerprint] = OrderedDict()
        self._lost = False

    def note(self, before: StateFingerprint, recorded: RecordedAction) -> None:
        """Log an action in this state."""
        known = self._moments.get(len(self._recorded_actions))
        if known is None or known.picture != before.picture:
            self._remember(before)
        self._recorded_actions.append(recorded)

    def commands(self) -> tuple[str, ...]:
        """The command lines that were run, in order."""
        actions = (recorded.action for recorded in self._recorded_actions)
        return tuple(action.command for action in actions if isinstance(action, RunCommand))

    def mark_not_replayable(self) -> None:
        """Record an action whose execution is unknown: from now on no state can be replayed."""
        self._lost = True

    @property
    def replayable(self) -> bool:
        """Whether the actions that led to the current state can be replayed."""
        return not self._lost and len(self._recorded_actions) <= MAX_ACTIONS

    def snapshot(self, now: StateFingerprint) -> MachineSnapshot:
        """A snapshot of the current state."""
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
        """The machine is restored to that state."""
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
