"""What an operator gives to OSWorld's task files, and what of a file cannot be done with it."""

import json
import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from vm_bridge.drivers.osworld_task import Getter, Step, TaskFile
from vm_bridge.network.allowlist import AllowList

PASSWORD = "{CLIENT_PASSWORD}"  # noqa: S105 - OSWorld's placeholder
"""What task files leave for the caller to put in."""
SETTINGS = "evaluation_examples/settings"
"""Where OSWorld keeps accounts, below the folder that its programs run in."""
DRIVE = f"{SETTINGS}/googledrive/settings.yml"
ACCOUNTS = {"googledrive": DRIVE, "googledrive_file": DRIVE, "login": "", "proxy": f"{SETTINGS}/proxy/dataimpulse.json"}
"""What needs one, and the file that is read where none is named."""
HISTORY = "https://huggingface.co/"
"""Where the package fetches the empty history that it fills."""
OCR = "compare_image_text"
DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Means:
    """What there is for task files beside the guest."""

    python: Path = Path(".data/venvs/osworld/bin/python")
    """The interpreter of the environment that has OSWorld's package."""
    hosts: tuple[str, ...] = ()
    """Hosts, as `Task.network` writes them, from which files may be fetched."""
    password: str = ""
    """Of the guest's user."""
    files: Path | None = None
    """A folder with OSWorld's `evaluation_examples/settings`, and with files that steps bring into the guest."""

    @property
    def reads_pictures(self) -> bool:
        """Whether the environment has EasyOCR too."""
        return any((self.python.parent.parent / "lib").glob("python3*/site-packages/easyocr"))


USUAL = Means()


def wanting(file: TaskFile, means: Means) -> Iterator[str]:
    """What of a file cannot be done with these means, each by its name."""
    if not means.python.exists():
        yield "OSWorld's package is not installed on this host (./pilothouse osworld installs it)"
    allowed = AllowList.of(means.hosts)
    for place, parts in (("config", file.steps), ("evaluator", file.getters)):
        for part in parts:
            yield from (f"{place}: {part.type} {why}" for why in _wanting_part(part, means, allowed))
    if not means.reads_pictures and any(check.func == OCR for check in file.evaluator.checks):
        yield f"evaluator: {OCR} reads text in pictures, for which EasyOCR is not installed"


def _wanting_part(part: Step | Getter, means: Means, allowed: AllowList) -> Iterator[str]:
    given = given_of(part)
    if PASSWORD in json.dumps(given) and not means.password:
        yield "asks for the guest's password (PILOTHOUSE_OSWORLD_PASSWORD)"
    for path in accounts_of(part):
        if not _is_file(means.files, path):
            yield f"asks for the account in {path} (PILOTHOUSE_OSWORLD_FILES)"
    for path in _brought(part):
        if not _is_file(means.files, path) or path.startswith(SETTINGS):
            yield f"asks for the file {path} (PILOTHOUSE_OSWORLD_FILES)"
    for url in _fetched(part):
        parts = urlsplit(url)
        port = parts.port or DEFAULT_PORTS.get(parts.scheme, 0)
        if not allowed.allows(parts.hostname or "", port):
            yield f"fetches from {parts.hostname}, which is not allowed (PILOTHOUSE_OSWORLD_HOSTS)"


def given_of(part: Step | Getter) -> dict[str, Any]:
    """What a part says beside its type."""
    return part.parameters if isinstance(part, Step) else part.given


def accounts_of(part: Step | Getter) -> tuple[str, ...]:
    """The files with an account that a part reads."""
    if part.type not in ACCOUNTS:
        return ()
    return (posixpath.normpath(str(given_of(part).get("settings_file") or ACCOUNTS[part.type])),)


def _brought(part: Step | Getter) -> Iterator[str]:
    """Files of the operator's folder that a step brings into the guest."""
    if part.type == "upload_file":
        for each in given_of(part).get("files", ()):
            yield posixpath.normpath(str(each.get("local_path", "")))


def _fetched(part: Step | Getter) -> Iterator[str]:
    """Addresses from which the package fetches files itself; pages are shown by the guest's browser."""
    match part:
        case Step(type="download"):
            yield from (str(each.get("url", "")) for each in part.parameters.get("files", ()))
        case Step(type="update_browse_history"):
            yield HISTORY
        case Getter(type="cloud_file"):
            path = part.given.get("path", "")
            yield from map(str, path if isinstance(path, list) else [path])


def _is_file(folder: Path | None, path: str) -> bool:
    """Whether there is a file of that name below the folder."""
    if folder is None or path.startswith(("/", "..")):
        return False
    found = (folder / path).resolve()
    return found.is_file() and found.is_relative_to(folder.resolve())
