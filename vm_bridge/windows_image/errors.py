"""Why an image of Windows cannot be made; `code` is stable."""

from typing import Literal

Code = Literal[
    "no_kvm",
    "no_program",
    "no_space",
    "iso_missing",
    "iso_not_windows",
    "python_not_windows",
    "packages_failed",
    "busy",
    "install_failed",
    "install_timed_out",
    "agent_not_reached",
    "image_exists",
    "image_missing",
    "start_failed",
]


class ImageError(Exception):
    """One of the codes, and what to do about it."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code: Code = code
