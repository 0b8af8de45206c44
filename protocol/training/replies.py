"""What the replies of an attempt were like: how many could be read, and how long each was."""

from collections.abc import Sequence

from protocol.trajectory.steps import Step, is_later_of_reply
from protocol.trajectory.trajectories import Trajectory, without_undone_steps


def readable_share(trajectory: Trajectory) -> float | None:
    """The share of the policy's replies that were in its grammar, those of steps that were taken back as well."""
    proposals = [(proposal.count, proposal.error is None) for row in trajectory.proposals for proposal in row]
    return (
        sum(count for count, readable in proposals if readable) / sum(count for count, _ in proposals)
        if proposals
        else None
    )


def reply_lengths(trajectory: Trajectory) -> tuple[int, ...]:
    """Of each step that stands, how many tokens its reply had; 0 where a person wrote it, none were kept, or an earlier
    step has them."""
    offered = {one.id: one for row in trajectory.proposals for one in row}

    def length(step: Step) -> int:
        own = step.decision in ("accept", "auto") and not is_later_of_reply(step)
        taken = offered.get(step.proposal_id or "") if own else None
        return len(taken.completion_token_ids or ()) if taken else 0

    steps: Sequence[Step] = without_undone_steps(trajectory).steps
    return tuple(length(step) for step in steps)
