"""Which commands of an episode came from a supervisor, so that what they did is stored under their pseudonym."""

from collections import OrderedDict
from dataclasses import dataclass

MAX_COMMANDS = 5_000
"""Commands that are remembered; a takeover's gesture has at most half as many."""


@dataclass(frozen=True, slots=True)
class Assistant:
    """A supervisor who has control. `user_id` is None where only the pseudonym is known, as after a restart."""

    pseudonym: str
    user_id: int | None = None


class AssistantCommands:
    """The commands of supervisors, by their id; those of the annotator are not here."""

    def __init__(self) -> None:
        self._assistants: OrderedDict[str, Assistant] = OrderedDict()

    def note(self, command_id: str, assistant: Assistant) -> None:
        """Remember who sent a command; the oldest are forgotten."""
        self._assistants[command_id] = assistant
        while len(self._assistants) > MAX_COMMANDS:
            self._assistants.popitem(last=False)

    def follow(self, earlier: str, later: str) -> None:
        """Remember that a command goes on with an earlier one, as the next action of the same reply does."""
        if (assistant := self._assistants.get(earlier)) is not None:
            self.note(later, assistant)

    def pseudonym_of(self, command_id: str) -> str | None:
        """The supervisor's pseudonym; None for a command of the annotator or the policy."""
        assistant = self._assistants.get(command_id)
        return assistant.pseudonym if assistant else None

    def user_id_of(self, command_id: str) -> int | None:
        """The supervisor's account; None for a command of the annotator or the policy."""
        assistant = self._assistants.get(command_id)
        return assistant.user_id if assistant else None
