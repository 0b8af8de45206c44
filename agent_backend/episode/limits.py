"""Bounds of one episode's runner."""

from dataclasses import dataclass, field

from agent_backend.episode.executor import ExecutorLimits
from agent_backend.episode.proposal_requests import RetryPolicy


@dataclass(frozen=True, slots=True)
class RunnerLimits:
    """Bounds of a runner and of its parts.

    Attributes:
        inbox: Maximum number of waiting commands.
        input_batch: Maximum number of takeover commands whose inputs form one batch.
        machine_retry_seconds: Seconds until a machine is requested again.
        max_invalid_replies: Consecutive replies without an action that become steps of the autopilot. Zero if a person
            is present: the autopilot then ends at once.
        ends_with_page: Whether requests to the policy stop once the page has ended or its time is over.
    """

    inbox: int = 32
    input_batch: int = 16
    machine_retry_seconds: float = 2.0
    max_invalid_replies: int = 0
    ends_with_page: bool = False
    executor: ExecutorLimits = field(default_factory=ExecutorLimits)
    retry_policy: RetryPolicy = field(default_factory=RetryPolicy)


DEFAULT_LIMITS = RunnerLimits()
