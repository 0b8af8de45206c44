"""Errors of the service layer.

AgentError                  every error of this package; `code` is stable
├── CommandRejected         a command cannot be taken now (stale_accept, unknown_proposal, not_running, …)
├── PolicyError             the policy gave nothing usable
│   ├── PolicyUnavailable   no answer in time, refused connection, or the circuit is open
│   └── PolicyRejected      the server refused the request
│       ├── PolicyMisconfigured  every request of this policy fails: its key, credit, address or model name is wrong
│       ├── ContinuationUnsupported  its server cannot continue a half-written reply
│       └── BudgetSpent     the request would cost more than is left of the pool's budget
├── EpisodeFenced           another process drives this episode now
├── WebAppRejected          the web app refused a simulated annotator's request; `code` is the app's
└── WebAppUnavailable       the web app does not answer, or an episode's socket cannot be opened
"""


class AgentError(Exception):
    """Base of all; the message is for people, `code` is for programs."""

    code = "agent_error"


class CommandRejected(AgentError):
    """A command was refused and changed nothing."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class PolicyError(AgentError):
    code = "policy_error"


class PolicyUnavailable(PolicyError):
    """`retry_after` is the delay that the server asked for (seconds)."""

    code = "policy_unavailable"

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class PolicyRejected(PolicyError):
    code = "policy_rejected"


class PolicyMisconfigured(PolicyRejected):
    code = "policy_misconfigured"


class ContinuationUnsupported(PolicyRejected):
    code = "continuation_unsupported"


class BudgetSpent(PolicyRejected):
    code = "budget_spent"


class EpisodeFenced(AgentError):
    code = "episode_fenced"


class WebAppRejected(AgentError):
    """The web app refused, and nothing changed."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class WebAppUnavailable(AgentError):
    code = "desk_closed"
