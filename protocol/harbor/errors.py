"""What can be wrong with a task folder; `code` is stable."""

from typing import Literal

FolderErrorCode = Literal[
    "harbor_missing",
    "harbor_invalid",
    "harbor_link",
    "harbor_too_large",
    "harbor_version",
    "harbor_unsupported",
]


class FolderError(ValueError):
    """A folder is no task that can be played here; nothing was read into anything.

    `harbor_missing`: a file that every task has; `harbor_invalid`: a file that cannot be read; `harbor_link`: a link, a
    special file, or a path that leads out; `harbor_too_large`; `harbor_version`: an unknown `schema_version`;
    `harbor_unsupported`: a setting or an instruction that our machines do not do, by its name.
    """

    def __init__(self, code: FolderErrorCode, message: str) -> None:
        super().__init__(message)
        self.code: FolderErrorCode = code
