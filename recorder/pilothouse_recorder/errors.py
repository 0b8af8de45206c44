"""The recorder's error type, with stable codes."""


class RecorderError(Exception):
    """A command failed and changed nothing. `code` is stable; the message is for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
