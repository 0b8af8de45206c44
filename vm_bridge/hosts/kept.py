"""What lies in a sandbox's folder for the host that comes after this one."""

from pathlib import Path

from pydantic import ValidationError

from vm_bridge.errors import MachineGone
from vm_bridge.hosts.tree import write_whole
from vocabulary.base import Frozen
from vocabulary.tasks import Task

STATE = "machine.json"


class Kept(Frozen):
    """What it must know to adopt the sandbox."""

    image: str
    tree: str = ""
    """The folder of its processes, where that is not the sandbox's own."""
    task: Task | None


def kept_write(folder: Path, kept: Kept) -> None:
    """In place of what was there."""
    write_whole(folder / STATE, kept.model_dump_json())


def kept_read(folder: Path) -> Kept:
    """Raises MachineGone."""
    try:
        return Kept.model_validate_json((folder / STATE).read_bytes())
    except (OSError, ValidationError) as error:
        raise MachineGone(f"nothing is known of {folder.name}") from error
