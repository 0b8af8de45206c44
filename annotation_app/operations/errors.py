"""What can go wrong in operating the platform.

OperationsError
├── StartFailed      a program did not become ready
└── CommandFailed    a command of the set-up ended with an error
"""


class OperationsError(Exception):
    """An error that a person can fix. It says what happened, and `hint` says what to do."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint
        if hint:
            self.add_note(hint)


class StartFailed(OperationsError):
    """A supervised program ended, or took too long, before it was ready."""


class CommandFailed(OperationsError):
    """A command ended with an error; the message names it, the hint shows its last lines."""
