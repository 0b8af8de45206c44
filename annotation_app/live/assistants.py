"""Maps an episode's commands to the supervisors who sent them, so that steps are stored under their pseudonyms."""

from collections import OrderedDict
from dataclasses import dataclass

MAX_COMMANDS = 5_000
"""How many commands are remembered. A takeover's gesture has at most half as many."""


@dataclass(frozen=True, slots=True)
class Assistant:
    """A supervisor who has control. `user_id` is None if only the pseudonym is known, as after a restart."""

    pseudonym: str
    user_id: int | None = None


class AssistantCommands:
    """The supervisors' commands, by command id. The annotator's commands are not included."""

    def __init__(self) -> None:
        self._assistants: OrderedDict[str, Assistant] = OrderedDict()

    def note(self, command_id: str, assistant: Assistant) -> None:
        """Remember who sent a command. The oldest entries are evicted."""
        self._assistants[command_id] = assistant
        while len(self._assistants) > MAX_COMMANDS:
            self._assistants.popitem(last=False)

    def follow(self, earlier: str, later: str) -> None:
        """Credit a follow-up command, such as the next action of the same reply, to the sender of the earlier one."""
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
