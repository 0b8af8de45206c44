"""Something an act leaves on a machine and a later one finds there, whatever drives it."""

from typing import Protocol
from urllib.parse import urlsplit

from protocol.actions.types import Action, Navigate, NavigateBack, ReadFile, WriteFile
from vm_bridge.machine import Machine


class Notes(Protocol):
    """`failing` is an act that fails inside a fresh machine."""

    failing: Action

    def write(self, text: str) -> Action:
        """The act that replaces the note."""
        ...

    async def read(self, machine: Machine, command_id: str) -> str | None:
        """The note; None where there is none."""
        ...


class FileNotes:
    """A file."""

    failing: Action = ReadFile(path="nothing-here.txt")

    def write(self, text: str) -> Action:
        return WriteFile(path="note.txt", text=text)

    async def read(self, machine: Machine, command_id: str) -> str | None:
        done = await machine.perform(command_id, ReadFile(path="note.txt"))
        return None if done.error else done.after.text


class AddressNotes:
    """The end of a page's address, where there are no files."""

    failing: Action = NavigateBack()

    def write(self, text: str) -> Action:
        return Navigate(url=f"#{text}")

    async def read(self, machine: Machine, command_id: str) -> str | None:
        return urlsplit((await machine.observe()).url or "").fragment or None
