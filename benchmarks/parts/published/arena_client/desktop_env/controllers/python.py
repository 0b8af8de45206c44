"""Calls of the in-guest server."""

import json
import urllib.request
from typing import Any

SECONDS = 60.0


class PythonController:
    """One guest."""

    def __init__(self, vm_ip: str) -> None:
        self._server = f"http://{vm_ip}:5000"

    def execute(self, command: str | list[str], *, shell: bool) -> dict[str, Any]:
        """What a command printed and how it ended. Raises OSError."""
        body = json.dumps({"command": command, "shell": shell}).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{self._server}/execute", body, headers)
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            told: dict[str, Any] = json.load(answer)
        return told
