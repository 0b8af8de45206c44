"""Settings of `task.toml` under the names of earlier versions of its schema, as published folders still have them."""

import re
from typing import Any

from protocol.harbor.errors import FolderError

_SIZE = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?) ?([KMGT])i?B?", re.IGNORECASE)
_MEBIBYTES = {"K": 1 / 1024, "M": 1, "G": 1024, "T": 1024**2}
IGNORED = frozenset({"artifacts"})
"""Lists at the top that name files to fetch after an attempt."""


def with_present_names(config: dict[str, Any]) -> dict[str, Any]:
    """The settings under their names of today; nothing that says something is lost. Raises FolderError.

    `allow_internet` is a network mode, `memory` and `storage` are in words such as `2G`, and an empty list of MCP
    servers asks for none.
    """
    found = {name: value for name, value in config.items() if name not in IGNORED or not isinstance(value, list)}
    environment = found.get("environment")
    if not isinstance(environment, dict):
        return found
    changed = {name: value for name, value in environment.items() if not (name == "mcp_servers" and value == [])}
    if isinstance(allowed := changed.get("allow_internet"), bool):
        del changed["allow_internet"]
        changed.setdefault("network_mode", "public" if allowed else "no-network")
    for name in ("memory", "storage"):
        if isinstance(text := changed.get(name), str):
            del changed[name]
            changed.setdefault(f"{name}_mb", _mebibytes(name, text))
    return {**found, "environment": changed}


def _mebibytes(name: str, text: str) -> int:
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise FolderError("harbor_invalid", f"task.toml: environment.{name} is no size like 2G")
    return round(float(match[1]) * _MEBIBYTES[match[2].upper()])
