"""Checksums of a made game: of what decides it, and of the verifier that judges it."""

import hashlib
import json
from pathlib import Path

from task_factory.games.static_checks import SCRIPTS
from vm_bridge.suites.web.task_folder import RULES, TaskFolder


def source_sha256(folder: TaskFolder) -> str:
    """SHA-256 of the manifest without its measured reference, of every script, and of what all rules share."""
    manifest = json.loads((folder.path / "manifest.json").read_bytes())
    manifest.pop("reference", None)
    whole = hashlib.sha256(json.dumps(manifest, ensure_ascii=False, sort_keys=True).encode())
    for path in (folder.kit / RULES, *(folder.path / name for name in SCRIPTS)):
        data = path.read_bytes()
        whole.update(f"{path.name}\0{len(data)}\0".encode() + data)
    return whole.hexdigest()


def file_sha256(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
