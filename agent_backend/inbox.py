"""Commands of one episode that wait for its runner."""

from collections import deque

from agent_backend.errors import CommandRefused
from agent_backend.ports import Emit, EpisodeCommand


class CommandInbox:
    """Waiting commands and where to answer them, in the order they came.

    Args:
        size: Most commands that wait at a time.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._waiting: deque[tuple[EpisodeCommand, Emit]] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def first(self) -> EpisodeCommand | None:
        """The next command, left where it is; None where no command waits."""
        return self._waiting[0][0] if self._waiting else None

    def holds(self, kind: type[EpisodeCommand]) -> bool:
        """Whether a command of a kind waits."""
        return any(isinstance(command, kind) for command, _ in self._waiting)

    def add(self, command: EpisodeCommand, reply: Emit) -> bool:
        """Queue a command. A resent one takes the place of its equal. Returns whether it is new.

        Raises:
            CommandRefused: `queue_full`; the resent command of a full inbox is taken all the same.
        """
        for place, (waiting, _) in enumerate(self._waiting):
            if waiting == command:
                self._waiting[place] = (command, reply)
                return False
        if len(self._waiting) >= self._size:
            raise CommandRefused("queue_full", "too many commands are waiting")
        self._waiting.append((command, reply))
        return True

    def take(self) -> tuple[EpisodeCommand, Emit]:
        """Remove the next command. Raises IndexError where no command waits."""
        return self._waiting.popleft()
