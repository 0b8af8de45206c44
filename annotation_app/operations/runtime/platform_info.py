"""The published information about a running platform: its address, and the environment of its programs."""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from annotation_app.operations.file_locks import is_data_locked

PLATFORM_FILE = Path("run") / "platform.json"


@dataclass(frozen=True, slots=True)
class PlatformInfo:
    """Information about one running platform; contains its secrets."""

    url: str
    """The address of its pages."""
    environment: dict[str, str]
    """Environment of its programs: addresses and secrets."""
    supervisor: int
    """The PID of its supervisor."""


@contextlib.contextmanager
def publish_platform_info(data: Path, note: PlatformInfo) -> Iterator[None]:
    """Publish it, readable only by its owner, while the block runs."""
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
    """The platform that runs on this data; None without one. The file may outlive a platform that was killed."""
    return _read(data) if is_data_locked(data) else None


def read_platform_info_of(data: Path, supervisor: int) -> PlatformInfo | None:
    """What this running supervisor has published so far. Information of another supervisor is ignored."""
    note = _read(data)
    return note if note is not None and note.supervisor == supervisor else None


def _read(data: Path) -> PlatformInfo | None:
    try:
        return PlatformInfo(**json.loads((data / PLATFORM_FILE).read_bytes()))
    except FileNotFoundError:
        return None
