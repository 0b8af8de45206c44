"""How many commands one socket may send, and that they stay in order where some are refused for lack of room."""

COMMAND_BURST, COMMANDS_PER_SECOND, MAX_REJECTIONS = 200, 100, 1_000
"""So many commands at once, so many a second; after so many refusals without a calm spell the socket is closed."""
RETRYABLE_CODES = frozenset({"flooding", "queue_full"})
"""Refusals for lack of room: the page sends these commands again."""
RESEND_TIMEOUT_SECONDS = 10.0
"""A refused command that does not come again within this time holds up no others."""


class TokenBucket:
    """How many commands a socket may still send."""

    def __init__(self) -> None:
        self._tokens, self._at, self.rejected = float(COMMAND_BURST), 0.0, 0

    def take(self, now: float) -> bool:
        """Whether one more is allowed (`now` in seconds)."""
        self._tokens, self._at = min(COMMAND_BURST, self._tokens + (now - self._at) * COMMANDS_PER_SECOND), now
        if self._tokens < 1:
            self.rejected += 1
            return False
        if self._tokens > COMMAND_BURST / 2:
            self.rejected = 0
        self._tokens -= 1
        return True


class CommandOrder:
    """After a command that was refused for lack of room, all that follow are refused too, until it comes again."""

    def __init__(self) -> None:
        self._first: str | None = None
        self._until = 0.0

    def hold_back(self, command_id: str | None, now: float) -> None:
        """Note that a command found no room (`now` in seconds)."""
        if self._first is None:
            self._first, self._until = command_id, now + RESEND_TIMEOUT_SECONDS

    def is_in_order(self, command_id: str | None, now: float) -> bool:
        """Whether this command overtakes none that was refused before it."""
        if self._first in (None, command_id) or now >= self._until:
            self._first = None
            return True
        return False
