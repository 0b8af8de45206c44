"""One bundled browser task as it lies on the disk: its manifest, its page, its verifier and its expert."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from vm_bridge.browser import FilePayload
from vm_bridge.browser.files import read_files
from vm_bridge.suites.web.manifest import Manifest, read_manifest

PAGE, VERIFIER, EXPERT, FILES = "page", "verifier.js", "expert.js", "files"
RULES = "rules.js"
"""Of a made game, within its page: what its verifier and its expert are written with too."""
KIT = "_shared"
"""Beside a suite's tasks: what all its pages and experts are written with."""


@dataclass(frozen=True)
class TaskFolder:
    """A task's folder and its manifest."""

    path: Path
    manifest: Manifest
    kit: Path
    """Where what its suite's pages and experts share lies; not every suite has some."""

    @classmethod
    def read(cls, path: Path, kit: Path | None = None) -> "TaskFolder":
        """The task in this folder; its kit lies beside it unless it is elsewhere. Raises ValueError with what is
        wrong."""
        return cls(path, read_manifest(path), kit or path.parent / KIT)

    @cached_property
    def rules(self) -> str:
        """The source of a made game's rules, after what its suite's rules share; empty for other tasks."""
        own, common = self.path / PAGE / RULES, self.kit / RULES
        return "\n".join(path.read_text() for path in (common, own) if path.is_file()) if own.is_file() else ""

    @cached_property
    def verifier(self) -> str:
        """The verifier's source, after the rules."""
        return "\n".join(filter(None, (self.rules, (self.path / VERIFIER).read_text())))

    @cached_property
    def expert(self) -> str:
        """The expert's source, after the rules and what the suite's experts share; empty where there is none."""
        own, common = self.path / EXPERT, self.kit / EXPERT
        if not own.is_file():
            return ""
        return "\n".join(filter(None, (self.rules, *(path.read_text() for path in (common, own) if path.is_file()))))

    @cached_property
    def files(self) -> tuple[FilePayload, ...]:
        """What its pages may be given where they ask for files; most ask for none."""
        return read_files(self.path / FILES)

    @cached_property
    def checksum(self) -> str:
        """SHA-256 of the verifier, as every record names it."""
        return hashlib.sha256(self.verifier.encode()).hexdigest()


def read_task_folders(home: Path, kit: Path | None = None) -> dict[str, TaskFolder]:
    """Every task below a folder, by name. Raises ValueError."""
    return {
        path.name: TaskFolder.read(path, kit) for path in sorted(home.iterdir()) if (path / "manifest.json").is_file()
    }
