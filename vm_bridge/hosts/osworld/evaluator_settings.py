"""What an operator gives to OSWorld's task files, and what of a file cannot be done with it."""

import json
import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from vm_bridge.drivers.osworld.task_files import SUPPORTED_NAMES, Getter, PackageNames, Step, TaskFile
from vm_bridge.hosts.osworld.arena_package import read_package_names
from vm_bridge.hosts.osworld.program_needs import (
    ASSETS_FOLDER,
    list_missing_of_program,
    program_services,
    service_hosts,
)
from vm_bridge.network.allowlist import AllowList
from vm_bridge.network.egress_proxy import EgressProxy
from vm_bridge.network.sandbox_network import EgressFactory

PASSWORD_PLACEHOLDER = "{CLIENT_PASSWORD}"  # noqa: S105 - OSWorld's placeholder
"""What task files leave for the caller to put in."""
SETTINGS_FOLDER = "evaluation_examples/settings"
"""Where OSWorld keeps accounts, below the folder that its programs run in."""
DRIVE_SETTINGS = f"{SETTINGS_FOLDER}/googledrive/settings.yml"
ACCOUNTS = {
    "googledrive": DRIVE_SETTINGS,
    "googledrive_file": DRIVE_SETTINGS,
    "login": "",
    "proxy": f"{SETTINGS_FOLDER}/proxy/dataimpulse.json",
}
"""What needs one, and the file that is read where none is named."""
HISTORY_URL = "https://huggingface.co/"
"""Where the package fetches the empty history that it fills."""
OCR_METRIC = "compare_image_text"
DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class EvaluatorSettings:
    """What there is for task files beside the guest."""

    python: Path = Path(".data/venvs/osworld/bin/python")
    """The interpreter of the environment that has OSWorld's package."""
    hosts: tuple[str, ...] = ()
    """Hosts, as `Task.network` writes them, from which files may be fetched."""
    password: str = ""
    """Of the guest's user."""
    files: Path | None = None
    """A folder with OSWorld's `evaluation_examples/settings`, and with files that steps bring into the guest."""
    services: Mapping[str, str] = field(default_factory=dict)
    """Variables of OSWorld 2.0: where its websites, its GitLab and its judging model are."""
    make_egress: EgressFactory = EgressProxy
    """Makes the way out of a run, by a name and the allowed hosts."""
    arena: bool = False
    """Whether `files` is the client folder of WindowsAgentArena, whose package sets its files up and judges them."""

    @property
    def names(self) -> PackageNames | None:
        """What the package has of each kind; None where the client folder has no package."""
        if not self.arena:
            return SUPPORTED_NAMES
        return None if self.files is None else read_package_names(self.files)

    @property
    def reads_pictures(self) -> bool:
        """Whether the environment has EasyOCR too."""
        return any((self.python.parent.parent / "lib").glob("python3*/site-packages/easyocr"))

    @property
    def has_program_interface(self) -> bool:
        """Whether the environment has OSWorld 2.0's own package, which brings all that its programs import."""
        return any((self.python.parent.parent / "lib").glob("python3*/site-packages/desktop_env/task_base.py"))

    def services_of(self, file: TaskFile) -> dict[str, str]:
        """The variables that a program needs, and no others; none for other files."""
        if file.program is None:
            return {}
        assets = self.files is not None and (self.files / ASSETS_FOLDER).is_dir()
        return program_services(file.program, self.services, has_assets=assets)

    def hosts_of(self, file: TaskFile) -> tuple[str, ...]:
        """The hosts that a run for this file may reach."""
        return (*self.hosts, *service_hosts(self.services_of(file)))


DEFAULT_SETTINGS = EvaluatorSettings()


def list_missing(file: TaskFile, settings: EvaluatorSettings) -> Iterator[str]:
    """What of a file cannot be done with these means, each by its name."""
    if not settings.python.exists():
        yield "OSWorld's package is not installed on this host (./pilothouse osworld installs it)"
    if settings.names is None:
        yield "the folder with WindowsAgentArena's client has no desktop_env (PILOTHOUSE_WINDOWS_ARENA_CLIENT)"
    allowed = AllowList.of(settings.hosts)
    if file.program is not None:
        yield from list_missing_of_program(
            file.program,
            settings.services_of(file),
            password=bool(settings.password),
            allowed=allowed,
            whole=settings.has_program_interface,
        )
    for place, parts in (("config", file.steps), ("evaluator", file.getters)):
        for part in parts:
            yield from (f"{place}: {part.type} {why}" for why in _list_missing_in(part, settings, allowed))
    if not settings.reads_pictures and any(check.func == OCR_METRIC for check in file.evaluator.checks):
        yield f"evaluator: {OCR_METRIC} reads text in pictures, for which EasyOCR is not installed"


def _list_missing_in(part: Step | Getter, settings: EvaluatorSettings, allowed: AllowList) -> Iterator[str]:
    given = part_parameters(part)
    if PASSWORD_PLACEHOLDER in json.dumps(given) and not settings.password:
        yield "asks for the guest's password (PILOTHOUSE_OSWORLD_PASSWORD)"
    for path in account_files(part):
        if not _is_file(settings.files, path):
            yield f"asks for the account in {path} (PILOTHOUSE_OSWORLD_FILES)"
    for path in _uploaded_files(part):
        if not _is_file(settings.files, path) or path.startswith(SETTINGS_FOLDER):
            yield f"asks for the file {path} (PILOTHOUSE_OSWORLD_FILES)"
    for url in _download_urls(part):
        parts = urlsplit(url)
        port = parts.port or DEFAULT_PORTS.get(parts.scheme, 0)
        if not allowed.allows(parts.hostname or "", port):
            yield f"fetches from {parts.hostname}, which is not allowed (PILOTHOUSE_OSWORLD_HOSTS)"


def part_parameters(part: Step | Getter) -> dict[str, Any]:
    """What a part says beside its type."""
    return part.parameters if isinstance(part, Step) else part.given


def account_files(part: Step | Getter) -> tuple[str, ...]:
    """The files with an account that a part reads."""
    if part.type not in ACCOUNTS:
        return ()
    return (posixpath.normpath(str(part_parameters(part).get("settings_file") or ACCOUNTS[part.type])),)


def _uploaded_files(part: Step | Getter) -> Iterator[str]:
    """Files of the operator's folder that a step brings into the guest."""
    if part.type == "upload_file":
        for each in part_parameters(part).get("files", ()):
            yield posixpath.normpath(str(each.get("local_path", "")))


def _download_urls(part: Step | Getter) -> Iterator[str]:
    """Addresses from which the package fetches files itself; pages are shown by the guest's browser."""
    match part:
        case Step(type="download"):
            yield from (str(each.get("url", "")) for each in part.parameters.get("files", ()))
        case Step(type="update_browse_history"):
            yield HISTORY_URL
        case Getter(type="cloud_file"):
            path = part.given.get("path", "")
            yield from map(str, path if isinstance(path, list) else [path])


def _is_file(folder: Path | None, path: str) -> bool:
    """Whether there is a file of that name below the folder."""
    if folder is None or path.startswith(("/", "..")):
        return False
    found = (folder / path).resolve()
    return found.is_file() and found.is_relative_to(folder.resolve())
