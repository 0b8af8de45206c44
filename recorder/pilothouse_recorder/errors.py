"""What can go wrong, with a stable code."""


class RecorderError(Exception):
    """A command cannot be done; nothing was changed. `code` is stable, the message is for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
