"""Errors of an environment's clients: why a request was refused, or why an episode was lost."""

from agent_backend.errors import AgentError
from vm_bridge.errors import BridgeError, InvalidAction, UnsupportedAction


class EnvironmentRefusal(AgentError):
    """A request that cannot be taken; `code` is stable. Nothing was done, and no reward is given.

    Codes: `no_episode`, `episode_done`, `episode_lost`, `session_busy`, `session_closed`, `unknown_session`,
    `session_attached`, `capacity_reached`, `unknown_task`, `invalid_request`, and those of the bridge.
    """

    code = "environment_refusal"

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


STEP_ERRORS = (UnsupportedAction, InvalidAction)
"""Codes of faults of the policy: the step did nothing, and its observation says why."""


def refusal_of(error: AgentError | BridgeError) -> EnvironmentRefusal:
    """The refusal for a request that failed with another error, with that error's code."""
    return EnvironmentRefusal(error.code, str(error))


def lost_episode(error: BridgeError) -> EnvironmentRefusal:
    """An episode whose machine or verifier failed: an infrastructure outcome, which says nothing about the policy."""
    return EnvironmentRefusal(error.code, f"the episode is lost, reset begins another: {error}")
