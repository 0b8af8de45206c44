"""Print the keys of bridge hosts, which are derived from the master key of an installation."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from annotation_app.operations.errors import OperationsError
from vm_bridge.host_keys import MANAGER, RAY, format_keys, read_master_key

HOST_ID = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")
MIN_KEY_CHARACTERS = 32


def bridge_keys(
    hosts: Sequence[str], *, manager: bool, ray: bool, data: Path, environment: Mapping[str, str] = os.environ
) -> str:
    """The line for the environment of a bridge: the keys of these hosts, of managers and of hosts that Ray places.

    The master key comes from the environment or from the installation in `data`. Raises OperationsError if there is
    none, or if a host's id is invalid.
    """
    for host in hosts:
        if not HOST_ID.fullmatch(host):
            raise OperationsError(f"{host} is no id of a host.", hint="Name its PILOTHOUSE_HOST_ID.")
    names = [*([MANAGER] if manager else []), *([RAY] if ray else []), *hosts]
    if not names:
        raise OperationsError("Whose keys?", hint="Name the PILOTHOUSE_HOST_ID of a host, --manager, or both.")
    return f"PILOTHOUSE_BRIDGE_KEYS={format_keys(_master_key(data, environment), names)}"


def _master_key(data: Path, environment: Mapping[str, str]) -> str:
    master = read_master_key(environment)
    if not master:
        try:
            master = str(json.loads((data / "secrets.json").read_text())["bridge"])
        except (OSError, ValueError, KeyError):
            raise OperationsError(
                f"There is no master key in the environment, and no installation in {data}.",
                hint="Set PILOTHOUSE_BRIDGE_MASTER_KEY, or name the folder: --data FOLDER",
            ) from None
    if len(master) < MIN_KEY_CHARACTERS:
        raise OperationsError(f"PILOTHOUSE_BRIDGE_MASTER_KEY needs at least {MIN_KEY_CHARACTERS} characters.")
    return master
