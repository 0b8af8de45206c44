"""The inside of a machine for programs: files, folders and interactive terminals, beside the acts that are recorded.

Nothing done here is a step: whoever annotates or trains uses the actions of the same meaning instead.
"""

import re
from base64 import b64encode
from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Annotated, Literal, Protocol, Self

from pydantic import Base64Bytes, Field, StringConstraints

from protocol.actions.types import MAX_FILE
from protocol.base import FrozenModel
from vm_bridge.errors import InvalidAction

MAX_COMPLETED_LINE = 4_000
"""Longest command line that is completed (characters)."""
MAX_TITLES, MAX_TITLE_LENGTH = 50, 300
MAX_WORDS, MAX_WORD_LENGTH = 500, 100
WORD = re.compile(r"\w[\w@.+-]{2,}\w")
EntryName = Annotated[str, StringConstraints(max_length=4096)]


class FileEntry(FrozenModel):
    """One entry of a folder; `size` in bytes."""

    name: EntryName
    kind: Literal["file", "folder", "link", "other"]
    size: int = Field(ge=0)
    modified: datetime


class FileChange(FrozenModel):
    """What happened to one entry of a watched folder.

    `gone` says that the folder itself is no longer there, `more` that there were too many changes to tell: list it.
    """

    name: EntryName
    change: Literal["created", "changed", "deleted", "gone", "more"]


class TerminalState(FrozenModel):
    """One interactive terminal; `running` says whether its shell has not ended."""

    name: EntryName
    columns: int
    rows: int
    running: bool


class TerminalFrame(FrozenModel):
    """Output of one terminal, and its size; a terminal's first frame draws all that it shows.

    A terminal that was closed has no rows.
    """

    session: EntryName
    data: Base64Bytes
    columns: int
    rows: int

    @classmethod
    def of(cls, session: str, data: bytes, columns: int, rows: int) -> Self:
        """A frame of these bytes."""
        return cls(session=session, data=b64encode(data), columns=columns, rows=rows)


class CommandCompletion(FrozenModel):
    """What a machine's own shell offers at the end of a command line."""

    offered: bool = True
    """Whether the machine has a shell that can be asked."""
    start: int = Field(default=0, ge=0)
    """Where in the line the options go: each replaces all that is behind it."""
    options: Annotated[tuple[Annotated[str, StringConstraints(max_length=4096)], ...], Field(max_length=100)] = ()
    """As they are written, quotes and backslashes included; a folder ends with a slash."""
    more: bool = False
    """Whether there are more than these."""


class ScreenTexts(FrozenModel):
    """What can be read on a machine's screen, as far as the machine knows it; nothing from input fields."""

    titles: Annotated[
        tuple[Annotated[str, StringConstraints(max_length=MAX_TITLE_LENGTH)], ...], Field(max_length=MAX_TITLES)
    ] = ()
    """Of windows."""
    words: Annotated[
        tuple[Annotated[str, StringConstraints(max_length=MAX_WORD_LENGTH)], ...], Field(max_length=MAX_WORDS)
    ] = ()
    """Each once, in reading order; of four characters or more."""


def screen_words(texts: Iterable[str]) -> tuple[str, ...]:
    """The words of texts as `ScreenTexts.words` has them."""
    words = (word for text in texts for word in WORD.findall(text) if len(word) <= MAX_WORD_LENGTH)
    return tuple(dict.fromkeys(words))[:MAX_WORDS]


def check_file_size(data: bytes) -> None:
    """Raises InvalidAction for more bytes than a file may have."""
    if len(data) > MAX_FILE:
        raise InvalidAction(f"the file has more than {MAX_FILE} bytes")


class Files(Protocol):
    """Paths begin at the home folder; a file has `protocol.actions.types.MAX_FILE` bytes at most.

    Errors: any `BridgeError`; InvalidAction where a path cannot be used so.
    """

    async def list(self, path: str = ".") -> tuple[FileEntry, ...]:
        """A folder's entries by name, a thousand and one at most."""
        ...

    async def stat(self, path: str) -> FileEntry:
        """One file or folder; links are followed."""
        ...

    async def read(self, path: str) -> bytes:
        """A whole file."""
        ...

    async def write(self, path: str, data: bytes) -> None:
        """Create or replace a file, and the folders above it, in one move."""
        ...

    async def delete(self, path: str, *, recursive: bool = False) -> None:
        """Remove a file, a link or an empty folder; with `recursive` a folder with all that is in it."""
        ...

    def watch(self, path: str = ".") -> AbstractAsyncContextManager[AsyncIterator[FileChange]]:
        """What happens to the entries of a folder from now on; not to those of its folders."""
        ...


class Terminals(Protocol):
    """Named shells on pseudo-terminals; the same that `type_terminal` acts on. Errors: as for `Files`."""

    async def list(self) -> tuple[TerminalState, ...]:
        """Every terminal."""
        ...

    async def write(self, session: str, text: str) -> None:
        """Type text; the terminal begins where there is none of that name."""
        ...

    async def read(self, session: str) -> str:
        """What a terminal shows, with some of what scrolled away."""
        ...

    async def complete(self, line: str, *, session: str | None = None) -> CommandCompletion:
        """What the shell offers at the end of a line, in the folder where that terminal stands; in the home folder
        without a terminal, as `run_command` runs. Types nothing and starts no terminal."""
        ...

    async def resize(self, session: str, *, columns: int, rows: int) -> None:
        """Give a terminal another size; it begins where there is none of that name."""
        ...

    async def close(self, session: str) -> None:
        """End a terminal and what runs in it."""
        ...

    def watch(self) -> AbstractAsyncContextManager[AsyncIterator[TerminalFrame]]:
        """The output of all terminals as it comes, beginning with what they show."""
        ...
