"""The secrets of an episode's task, between its runner and its machine. They are bound to kinds of act, hosts and
applications, inserted on the way to the machine, and masked in its answers."""

from collections.abc import Callable, Mapping

from agent_backend.episode.masked_machine import MaskedMachine
from annotation_app.tasks.secret_masking import (
    SECRET_REFUSALS,
    TaskSecret,
    host_of,
    server_secret_refusal,
    substitute_secrets,
)
from protocol.actions.secrets import SecretUse, find_secret_names
from protocol.actions.types import Action
from protocol.blobs import BlobRef
from protocol.trajectory.observations import Observation, Transition
from vm_bridge.errors import InvalidAction, OutcomeUnknown, UnsupportedAction
from vm_bridge.machine import ExpertSuggestion, Machine
from vm_bridge.machine_io import Files, Terminals


class SecretNotAllowed(InvalidAction):
    """A secret may not be used in this way. Nothing was executed."""

    code = "secret_refused"


class EpisodeSecrets:
    """The secrets of an episode's pool, by name; none until its machine is ready."""

    def __init__(self) -> None:
        self.by_name: Mapping[str, TaskSecret] = {}

    @property
    def values(self) -> dict[str, str]:
        """The value of each secret."""
        return {name: secret.value for name, secret in self.by_name.items()}

    def holds_value(self, text: str) -> bool:
        """See `SecretRules`."""
        return any(value and value in text for value in self.values.values())

    def server_value(self, name: str, host: str) -> str:
        """The value for an MCP server at this host. Raises SecretNotAllowed."""
        if reason := server_secret_refusal(self.by_name, name, host):
            raise SecretNotAllowed(f"An MCP server does not start. {reason}")
        return self.by_name[name].value

    def names_in(self, action: Action) -> tuple[str, ...]:
        """The secrets that an action uses. An unknown name is plain text."""
        return tuple(name for name in find_secret_names(action) if name in self.by_name)

    def refusal(self, action: Action, observation: Observation) -> str:
        """Why an action may not use its secrets on a screen; empty if it may."""
        host, application = host_of(observation), observation.application or ""
        reasons = (self.by_name[name].refusal(name, action.kind, host, application) for name in self.names_in(action))
        return next(filter(None, reasons), "")

    def to_confirm(self, action: Action, observation: Observation) -> tuple[SecretUse, ...]:
        """See `SecretRules`."""
        if self.refusal(action, observation):
            return ()
        host, application = host_of(observation), observation.application or ""
        return tuple(
            SecretUse(name=name, host=host, application=application)
            for name in self.names_in(action)
            if self.by_name[name].confirm
        )


class SecretMaskingMachine(MaskedMachine):
    """A machine that inserts the values of secrets, and whose files, terminals and experts are out of reach.

    An action with a secret is checked when it runs: the screen is read again, and must have the same host and
    application in front as when the runner decided.
    """

    def __init__(
        self,
        machine: Machine,
        secrets: EpisodeSecrets,
        observed: Callable[[], Observation | None],
        *,
        resumed: str = "",
    ) -> None:
        """Wrap the machine of one episode.

        Args:
            observed: The observation that the runner decides on; None while a branch repeats earlier steps.
            resumed: The command that a crash left open. It may have been executed.
        """
        super().__init__(machine, lambda: secrets.values)
        self._secrets = secrets
        self._observed = observed
        self._resumed = resumed
        self._checked_command_id = ""
        """The last command that was checked. A repeat is not checked again."""

    async def suggest_expert_action(self) -> ExpertSuggestion | None:
        raise UnsupportedAction("an expert's requests must not pass the secrets")

    @property
    def files(self) -> Files:
        raise UnsupportedAction("files of a machine with secrets are reached by actions")

    @property
    def terminals(self) -> Terminals:
        raise UnsupportedAction("terminals of a machine with secrets are reached by actions")

    async def perform(
        self,
        command_id: str,
        action: Action,
        *,
        settle: bool = True,
        snapshot: bool = False,
        expected: BlobRef | None = None,
        wait_for_timers: bool = True,
    ) -> Transition:
        if self._secrets.names_in(action) and command_id != self._checked_command_id:
            await self._check(command_id, action)
            self._checked_command_id = command_id
        whole = substitute_secrets(action, self._secrets.values)
        return await super().perform(
            command_id, whole, settle=settle, snapshot=snapshot, expected=expected, wait_for_timers=wait_for_timers
        )

    async def _check(self, command_id: str, action: Action) -> None:
        """Raises SecretNotAllowed; OutcomeUnknown for a command that may have been executed before a crash."""
        now = await self._machine.observe()
        observed = self._observed()
        reason = self._secrets.refusal(action, now)
        if not reason and observed is not None:
            reason = _place_change(observed, now)
        if reason and command_id == self._resumed:
            raise OutcomeUnknown(f"a crash left open whether this was done; it is not done again: {reason}")
        if reason:
            raise SecretNotAllowed(reason)


def _place_change(decided: Observation, now: Observation) -> str:
    """What changed between the decision and the act; empty if nothing did."""
    if host_of(decided) != host_of(now):
        return SECRET_REFUSALS["host_changed"]
    return SECRET_REFUSALS["application_changed"] if decided.application != now.application else ""
