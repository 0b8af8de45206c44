"""What lies in a sandbox's folder for the host that comes after this one."""

from pathlib import Path

from pydantic import ValidationError

from protocol.base import FrozenModel
from protocol.trajectory.tasks import Task
from vm_bridge.errors import MachineGone
from vm_bridge.hosts.process_sandbox import write_atomic

STATE_FILE = "machine.json"


class PersistedState(FrozenModel):
    """What it must know to adopt the sandbox."""

    image: str
    tree: str = ""
    """The folder of its processes, where that is not the sandbox's own."""
    task: Task | None


def write_state(folder: Path, kept: PersistedState) -> None:
    """In place of what was there."""
    write_atomic(folder / STATE_FILE, kept.model_dump_json())


def read_state(folder: Path) -> PersistedState:
    """Raises MachineGone."""
    try:
        return PersistedState.model_validate_json((folder / STATE_FILE).read_bytes())
    except (OSError, ValidationError) as error:
        raise MachineGone(f"nothing is known of {folder.name}") from error
