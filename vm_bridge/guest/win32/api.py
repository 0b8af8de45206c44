"""Windows' own functions."""

import ctypes
from typing import Any


def library(name: str) -> Any:
    """One of its libraries, whose functions say why they failed by `failure`."""
    return ctypes.WinDLL(name, use_last_error=True)  # type: ignore[attr-defined]


def failure() -> OSError:
    """Why the last call failed."""
    error: OSError = ctypes.WinError(ctypes.get_last_error())  # type: ignore[attr-defined]
    return error
