"""The log of an episode in a browser, in the page's own time, for replay."""

import secrets
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from protocol.actions.types import Action
from protocol.base import FrozenModel
from protocol.blobs import Sha256
from protocol.trajectory.observations import MachineSnapshot
from protocol.trajectory.tasks import Task
from vm_bridge.errors import CannotRestore

MAX_REPLAY_STEPS = 5_000
"""Maximum steps of a replay."""


class ReplayStep(FrozenModel):
    """An action, or time that passed without one."""

    action: Action | None = None
    settle: bool = False
    """Whether the page was allowed to settle."""
    live: bool = False
    """Whether the page's time ran by itself meanwhile."""
    failed: str | None = None
    """The code of its error."""
    until_ms: float
    """The page's time at the end of the step."""
    picture: Sha256 | None = None
    """The picture then, if it was observed."""


class EpisodeStart(FrozenModel):
    """What an episode starts from. Its first step is the start state."""

    name: str
    task: Task | None


class LogLine(FrozenModel):
    """One line of the file: one field is set, or `fence` and `used` together."""

    begins: EpisodeStart | None = None
    deed: ReplayStep | None = None
    back: int | None = None
    """Number of steps that remain after a restore."""
    lost: str | None = None
    fence: int | None = None
    used: int | None = None


class ReplayLog:
    """Covers one task set-up to the next. With a `file`, a later process can read it."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self.beginning: EpisodeStart | None = None
        self.steps: list[ReplayStep] = []
        self.fence = 1
        """The lowest fencing token that may still act."""
        self.used = 0
        """The highest token that did."""
        self.lost = ""
        """Why no state can be replayed from now on; empty if states can be."""
        self._cuts: list[int] = []
        self._open: float | None = None
        """End of passed time that is not part of a step yet."""
        if file is not None and file.exists():
            self._read(file)

    def begin(self, task: Task | None) -> None:
        """Start a fresh page: earlier snapshots become invalid."""
        self.forget()
        self.beginning = EpisodeStart(name=secrets.token_hex(8), task=task)
        self._write(self._tokens(), LogLine(begins=self.beginning), anew=True)

    def forget(self) -> None:
        """Discard the episode."""
        self.beginning, self.steps, self.lost, self._cuts, self._open = None, [], "", [], None
        self._write(self._tokens(), anew=True)

    def admit(self, fence: int) -> None:
        """Admit this token; lower ones are rejected from now on."""
        if fence > self.used:
            self.fence, self.used = max(self.fence, fence), fence
            self._write(self._tokens())

    def end_lease(self) -> None:
        """Reject all tokens used so far."""
        self.fence = max(self.fence, self.used + 1)
        self._write(self._tokens())

    def note(self, deed: ReplayStep) -> None:
        """Log a step."""
        self._close()
        self._append(deed)

    def advance_time(self, until_ms: float) -> None:
        """The page's time advanced by itself."""
        self._open = until_ms

    def mark_not_replayable(self, why: str) -> None:
        """Record that something outside the log happened."""
        self.lost = why
        self._write(LogLine(lost=why))

    def snapshot(self) -> MachineSnapshot:
        """A snapshot of the current state."""
        assert self.beginning is not None
        self._close()
        acts = sum(deed.action is not None for deed in self.steps)
        name = f"{self.beginning.name}-{len(self._cuts)}-{len(self.steps)}"
        return MachineSnapshot(id=name, acts=acts, taken_at=datetime.now(UTC))

    def path_to(self, snapshot: MachineSnapshot) -> tuple[ReplayStep, ...]:
        """The steps that lead to a state. Raises CannotRestore."""
        name, _, rest = snapshot.id.partition("-")
        branch, _, length = rest.partition("-")
        if self.beginning is None or name != self.beginning.name or not (branch.isdigit() and length.isdigit()):
            raise CannotRestore("that state is of another set-up of the machine")
        count = int(length)
        if count > min([len(self.steps), *self._cuts[int(branch) :]]):
            raise CannotRestore("that state was left for an earlier one, and the way to it is gone")
        if self.lost:
            raise CannotRestore(self.lost)
        if count > MAX_REPLAY_STEPS:
            raise CannotRestore(f"more than {MAX_REPLAY_STEPS} acts lie before that state")
        return tuple(self.steps[:count])

    def go_back(self, count: int) -> None:
        """The page is restored to its state after `count` steps."""
        del self.steps[count:]
        self._cuts.append(count)
        self._open = None
        self._write(LogLine(back=count))

    def all_steps(self) -> tuple[ReplayStep, ...]:
        """All steps. Raises CannotRestore if something outside the log happened."""
        if self.lost:
            raise CannotRestore(self.lost)
        self._close()
        return tuple(self.steps)

    def _tokens(self) -> LogLine:
        return LogLine(fence=self.fence, used=self.used)

    def _close(self) -> None:
        until_ms, self._open = self._open, None
        if until_ms is not None and (not self.steps or self.steps[-1].until_ms < until_ms):
            self._append(ReplayStep(until_ms=until_ms))

    def _append(self, deed: ReplayStep) -> None:
        self.steps.append(deed)
        self._write(LogLine(deed=deed))

    def _write(self, *lines: LogLine, anew: bool = False) -> None:
        if self._file is None:
            return
        # The folder of a destroyed machine is gone; the action fails because the machine is gone.
        with suppress(FileNotFoundError), self._file.open("w" if anew else "a", encoding="utf-8") as file:
            file.writelines(line.model_dump_json(exclude_none=True) + "\n" for line in lines)

    def _read(self, file: Path) -> None:
        """Ignores an incomplete line from a process that ended while writing."""
        for text in file.read_text(encoding="utf-8", errors="replace").splitlines():
            with suppress(ValidationError):
                self._take(LogLine.model_validate_json(text))

    def _take(self, line: LogLine) -> None:
        if line.begins is not None:
            self.beginning = line.begins
        if line.deed is not None:
            self.steps.append(line.deed)
        if line.back is not None:
            del self.steps[line.back :]
            self._cuts.append(line.back)
        self.lost = line.lost or self.lost
        self.fence = max(self.fence, line.fence or 1)
        self.used = max(self.used, line.used or 0)
