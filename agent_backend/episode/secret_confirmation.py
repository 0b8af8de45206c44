"""A person confirms what a policy does with a task's secrets: the first use in an episode, and each new
host or application."""

from collections.abc import Sequence
from typing import Protocol

from agent_backend.episode.commands import intent_fields
from agent_backend.episode.state import EpisodeStateTracker
from agent_backend.errors import CommandRejected
from protocol.actions.secrets import SecretRequest, SecretUse
from protocol.actions.types import Action
from protocol.messages.events import Accept, Act, ConfirmSecrets
from protocol.trajectory.observations import Observation
from protocol.trajectory.proposals import Proposal


class SecretRules(Protocol):
    """What the secrets of an episode's task are bound to."""

    def to_confirm(self, action: Action, observation: Observation) -> Sequence[SecretUse]:
        """The uses of secrets in an action that a person has to confirm if a policy proposes it. Empty if the rules
        refuse the action: the machine then refuses it without a confirmation."""
        ...

    def holds_value(self, text: str) -> bool:
        """Whether a text holds the value of a secret."""
        ...


class NoSecrets:
    """Rules of episodes without secrets."""

    def to_confirm(self, action: Action, observation: Observation) -> Sequence[SecretUse]:
        return ()

    def holds_value(self, text: str) -> bool:
        return False


NO_SECRETS = NoSecrets()


class SecretConfirmation:
    """Holds a policy's action back until its secrets are confirmed. Confirmations and the open request are part of
    the episode's state, so they outlive the runner."""

    def __init__(self, record: EpisodeStateTracker, rules: SecretRules) -> None:
        self._record = record
        self._rules = rules

    @property
    def waiting(self) -> bool:
        """Whether a request about what is offered now is open."""
        proposal_ids = {proposal.id for proposal in self._record.state.proposals}
        return any(request.proposal_id in proposal_ids for request in self._record.state.secret_requests)

    def unconfirmed(self, actions: Sequence[Action], observation: Observation) -> tuple[SecretUse, ...]:
        """The unconfirmed uses of secrets in a policy's actions on a screen, each once."""
        required = (use for action in actions for use in self._rules.to_confirm(action, observation))
        return tuple(dict.fromkeys(use for use in required if use not in self._record.state.secrets_confirmed))

    async def check(self, command: Act | Accept) -> None:
        """Request confirmation for a proposal that is accepted, or sent as it was proposed. Raises CommandRejected
        (`secret_unconfirmed`) if the annotator has to confirm first."""
        fields = intent_fields(command, self._record.state)
        proposal = self._proposed(fields["proposal_id"], fields["action"])
        count = command.actions if isinstance(command, Accept) else 1
        said = {name: fields[name] for name in ("thought", "continued_characters")}
        if proposal is not None and await self._ask(
            proposal, **said, autopilot=False, actions=count if proposal.further_actions else None
        ):
            raise CommandRejected("secret_unconfirmed", "confirm the use of the secret first")

    async def hold(self, proposal: Proposal) -> bool:
        """Request confirmation before the autopilot executes a proposal. Returns whether it has to wait."""
        return await self._ask(proposal, thought=proposal.thought, autopilot=True)

    async def answer(self, command: ConfirmSecrets) -> str:
        """Apply the annotator's answer to the open request. Returns a note of it for the record. Raises CommandRejected
        if that request is no longer open."""
        state = self._record.state
        request = next((item for item in state.secret_requests if item.proposal_id == command.proposal_id), None)
        if request is None:
            raise CommandRejected("no_secret_request", "this question is not open any more")
        description = ", ".join(
            f"{use.name} at {use.host or use.application or 'an unknown host'}" for use in request.uses
        )
        if command.allow:
            confirmed = tuple(dict.fromkeys((*state.secrets_confirmed, *request.uses)))
            await self._record.change(secret_requests=(), secrets_confirmed=confirmed)
            return f"allowed {description}"
        await self._record.change(secret_requests=(), autopilot=False)
        return f"refused {description}"

    async def _ask(
        self,
        proposal: Proposal,
        *,
        thought: str,
        autopilot: bool,
        actions: int | None = None,
        continued_characters: int = 0,
    ) -> bool:
        state = self._record.state
        if proposal.action is None or state.observation is None:
            return False
        accepted = proposal.actions[:actions]
        uses = self.unconfirmed(accepted, state.observation)
        if not uses:
            return False
        kind = next(each.kind for each in accepted if self.unconfirmed((each,), state.observation))
        request = SecretRequest(
            proposal_id=proposal.id,
            uses=uses,
            kind=kind,
            thought=thought,
            continued_characters=continued_characters,
            autopilot=autopilot,
            actions=actions,
        )
        if state.secret_requests != (request,):
            await self._record.change(secret_requests=(request,))
        return True

    def _proposed(self, proposal_id: str | None, action: Action) -> Proposal | None:
        """The proposal with exactly this action; the named one is tried first."""
        matching = [item for item in self._record.state.proposals if item.action == action]
        return next((item for item in matching if item.id == proposal_id), matching[0] if matching else None)
