"""Python environments beside the platform's own, each made when it is first needed and whenever its sources change."""

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from annotation_app.operations.commands import run
from annotation_app.operations.console import Console
from annotation_app.operations.locks import setup_lock
from annotation_app.operations.requirement_locks import RequirementLock
from annotation_app.operations.stack import ROOT
from annotation_app.operations.stamps import digest_of, is_fresh, stamp
from annotation_app.operations.virtual_environments import python_of, runs
from vm_bridge.python_packages import Command, create_environment, locked_install, pip_install

HINT = "Is a package index reachable? `pip config list` shows the one in use."
ENVIRONMENTS = ROOT / ".data" / "venvs"
Fill = Callable[["Environment"], None]


@dataclass(frozen=True, slots=True)
class Environment:
    """One environment: its name in messages, its folder, and where progress is shown."""

    name: str
    console: Console
    folder: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return python_of(self.folder)

    def ensure(self, sources: Iterable[Path], fill: Fill, *, salt: str = "") -> Path:
        """Make it unless it was made from these `sources` by this Python and runs; `fill` installs what belongs in it.

        Returns its interpreter. Raises CommandFailed, and OperationsError when another set-up does not end.
        """
        done, digest = self.folder / "requirements.stamp", digest_of(sources, salt=f"{sys.version} {salt}")
        with setup_lock(self.folder.with_suffix(".lock"), self.console):
            if not (is_fresh(done, digest) and runs(self.python)):
                self.run(f"Making the environment of {self.name}", create_environment(self.folder))
                fill(self)
                stamp(done, digest)
        return self.python

    def install(self, what: str, arguments: Sequence[str], *, compiled: bool = False) -> None:
        """Install packages; `arguments` are those that pip and uv share. Raises CommandFailed.

        Pass `compiled` where another user, who can write no bytecode, imports them.
        """
        self.run(f"Installing {what}", pip_install(self.python, *arguments, compiled=compiled), hint=HINT)

    def install_locked(self, what: str, lock: RequirementLock, *, compiled: bool = False) -> None:
        """Install exactly what a lock names. Raises CommandFailed, and OperationsError when the lock is stale.

        Pass `compiled` where another user, who can write no bytecode, imports them.
        """
        command = locked_install(self.python, lock.checked_path(), compiled=compiled)
        self.run(f"Installing {what}", command, hint=HINT)

    def run(self, what: str, command: Command, *, hint: str = "") -> None:
        """One step, with its progress. Raises CommandFailed."""
        log = ROOT / ".data" / "logs" / f"{self.folder.name}-setup.log"
        run(what, command.words, console=self.console, log=log, environment=command.environment, hint=hint)
