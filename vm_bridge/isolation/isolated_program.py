"""Programs of ours in a Python environment of their own, isolated: no network, no files of this machine, another user.

OSWorld's evaluator and AndroidWorld's program are started by this module alone.
"""

import asyncio
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from vm_bridge.errors import MachineGone
from vm_bridge.isolation.bubblewrap import HOST_FOLDERS, USER_ID, switch_user, system_folders
from vm_bridge.isolation.cgroups import ControlGroups
from vm_bridge.isolation.seccomp import open_filter

PROGRAM = "/run/program.py"
"""Where the program itself is seen inside; its modules lie beside it."""
JOIN_GROUPS_SCRIPT = 'for group in $1; do echo $$ > "$group/cgroup.procs" || exit 70; done; shift; exec "$@"'
"""Shell text that joins control groups and becomes the command, so that bubblewrap ends with this process. The
arguments are data."""


@dataclass(frozen=True)
class IsolatedProgram:
    """One program, with everything that its isolation needs."""

    python: Path
    """Interpreter of a virtual environment on the host."""
    venv: str
    """Where the environment is seen inside."""
    program: str
    """The program's file on the host."""
    user: int | None
    """User id outside; None keeps the present, unprivileged one."""
    writable: Mapping[str, int]
    """Folders in memory that can be written, and their sizes (bytes)."""
    environment: Mapping[str, str]
    """All of its environment. Every user of the host can read it, so no secret belongs here."""
    modules: Sequence[str] = ()
    """Files on the host that the program imports; they lie beside it."""
    mounts: Sequence[str] = field(default_factory=tuple)
    """More options of bubblewrap, such as `--bind`; the last `--chdir` counts."""


def isolated_command(program: IsolatedProgram, seccomp: int) -> list[str]:
    """The whole command line; `seccomp` is the descriptor of the filter of system calls."""
    options = ["--unshare-all", "--die-with-parent", "--new-session", "--uid", str(USER_ID), "--gid", str(USER_ID)]
    options += ["--cap-drop", "ALL", "--seccomp", str(seccomp), *system_folders()]
    options += [word for path, size in program.writable.items() for word in ("--size", str(size), "--tmpfs", path)]
    options += [word for path in HOST_FOLDERS for word in ("--ro-bind-try", path, path)]
    options += _python_mounts(program.python)
    options += ["--ro-bind", str(program.python.parent.parent.absolute()), program.venv]
    options += ["--ro-bind", program.program, PROGRAM]
    for module in program.modules:
        options += ["--ro-bind", module, str(Path(PROGRAM).with_name(Path(module).name))]
    options += [*program.mounts, "--remount-ro", "/", "--clearenv"]
    options += [word for name, value in program.environment.items() for word in ("--setenv", name, value)]
    return [*switch_user(program.user), "bwrap", *options, f"{program.venv}/bin/python", "-s", "-u", PROGRAM]


async def start_isolated(
    command: Callable[[int], Sequence[str]], groups: ControlGroups, limit: int = 2**16
) -> asyncio.subprocess.Process:
    """Start a program in control groups, with pipes. Raises MachineGone.

    `command` is `isolated_command` of a program; `limit` is the most bytes of a line.
    """
    join = ("/bin/sh", "-c", JOIN_GROUPS_SCRIPT, "join", " ".join(map(str, groups.paths)))
    with open_filter(user_namespaces=False) as seccomp:
        try:
            return await asyncio.create_subprocess_exec(
                *(*join, *command(seccomp)),
                pass_fds=(seccomp,),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=limit,
                start_new_session=True,
            )
        except FileNotFoundError as error:
            raise MachineGone(f"{error.filename} is not installed; bubblewrap isolates the program") from error


async def end_isolated(process: asyncio.subprocess.Process) -> None:
    """End it with all that it started, and wait for it. Idempotent.

    The whole group is ended: what bubblewrap has begun and not yet bound to its own end would hold the pipes open.
    """
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


def _python_mounts(python: Path) -> list[str]:
    """What shows the Python that an environment was made of, where it is not among the system's programs."""
    base = python.resolve().parent.parent
    return [] if base.is_relative_to("/usr") else ["--ro-bind", str(base), str(base)]
