"""An act that fails inside the sandbox is no exception but an answer."""

from collections.abc import Callable
from typing import Any

from vm_bridge.guest.shell import ActFailed

Action = dict[str, Any]


def attempt(do: Callable[[Action], str | None], action: Action) -> dict[str, Any]:
    """What the act gave, or why it failed."""
    try:
        return {"text": do(action), "error": None}
    except ActFailed as failure:
        return {"text": failure.text, "error": {"code": failure.code, "message": str(failure)}}
