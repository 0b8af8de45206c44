"""What is written down of a running platform: where its pages are, and what its programs read."""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from annotation_app.operations.file_locks import is_data_locked

PLATFORM_FILE = Path("run") / "platform.json"


@dataclass(frozen=True, slots=True)
class PlatformInfo:
    """Of one running platform; holds its secrets."""

    url: str
    """Where its pages are."""
    environment: dict[str, str]
    """Of its programs: addresses and secrets."""
    supervisor: int
    """The process that keeps it up."""


@contextlib.contextmanager
def publish_platform_info(data: Path, note: PlatformInfo) -> Iterator[None]:
    """It can be read, by its owner only, until this ends."""
    file = data / PLATFORM_FILE
    fresh = file.with_suffix(".new")
    fresh.touch(mode=0o600)
    fresh.write_text(json.dumps(asdict(note), indent=1))
    fresh.rename(file)
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def read_platform_info(data: Path) -> PlatformInfo | None:
    """Of the platform that runs on this data, or None: a note outlives a platform that was killed."""
    return _read(data) if is_data_locked(data) else None


def read_platform_info_of(data: Path, supervisor: int) -> PlatformInfo | None:
    """What this supervisor, which runs, has written down by now; another's counts for nothing."""
    note = _read(data)
    return note if note is not None and note.supervisor == supervisor else None


def _read(data: Path) -> PlatformInfo | None:
    try:
        return PlatformInfo(**json.loads((data / PLATFORM_FILE).read_bytes()))
    except FileNotFoundError:
        return None
