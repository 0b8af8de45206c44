"""A policy's own decisions as tokens: prompt and reply, exactly as the server sampled them."""

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from protocol.blobs import BlobRef
from protocol.trajectory.proposals import ImageLimits, PolicyRef, Proposal, WeightSpan, complete_weight_spans
from protocol.trajectory.steps import is_later_of_reply, steps_of_reply
from protocol.trajectory.trajectories import Trajectory, without_undone_steps


@dataclass(frozen=True)
class SampledDecision:
    """One decision as tokens: what was read and said, exactly as the server sampled it, and how it was drawn.

    `exact` where its logprobs can be compared with a trainer's own: nothing cut the distribution off, and it is known
    which weights drew each token.
    """

    trajectory_id: str
    index: int
    prompt: BlobRef | None
    prompt_token_ids: tuple[int, ...]
    completion_token_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    sampling: dict[str, JsonValue]
    image_limits: ImageLimits | None
    policy: PolicyRef
    weight_versions: tuple[WeightSpan, ...]
    """Which weights drew its tokens; those of the policy's revision where the server does not say."""
    exact: bool


def sampled_decisions(trajectory: Trajectory) -> Iterator[SampledDecision]:
    """The decisions that were the policy's own words, token for token; steps a person worded are none of them.

    A reply that said several actions is one decision, of its first step. It is none where some of its steps were taken
    back.
    """
    trajectory = without_undone_steps(trajectory)
    offered = {proposal.id: proposal for row in trajectory.proposals for proposal in row}
    for step in trajectory.steps:
        proposal = offered.get(step.proposal_id or "")
        if proposal is None or step.decision not in ("accept", "auto") or is_later_of_reply(step):
            continue
        if len(group := steps_of_reply(trajectory.steps, step)) + len(group[-1].not_done) < len(proposal.actions):
            continue
        if decision := sampled_decision(trajectory.id, step.index, proposal):
            yield decision


def sampled_decision(trajectory_id: str, index: int, proposal: Proposal) -> SampledDecision | None:
    """A proposal as the tokens that were read and drawn; None where the server did not tell them all, and for a
    teacher's: its tokens are not those of the policy that is trained."""
    if proposal.policy.teacher:
        return None
    ids, logprobs = proposal.completion_token_ids or (), proposal.logprobs or ()
    if proposal.prompt_token_ids is None or not ids or len(ids) != len(logprobs):
        return None
    spans = complete_weight_spans(proposal.weight_versions or (WeightSpan(version=proposal.policy.revision),), len(ids))
    return SampledDecision(
        trajectory_id=trajectory_id,
        index=index,
        prompt=proposal.prompt,
        prompt_token_ids=proposal.prompt_token_ids,
        completion_token_ids=ids,
        logprobs=logprobs,
        sampling=proposal.sampling,
        image_limits=proposal.image_limits,
        policy=proposal.policy,
        weight_versions=spans,
        exact=has_full_distribution(proposal) and all(span.tokens is not None for span in spans),
    )


def has_full_distribution(proposal: Proposal) -> bool:
    """Whether every token could have been drawn: a truncated distribution's logprobs are renormalised."""
    whole = {"top_p": 1.0, "top_k": -1, "min_p": 0.0}
    return all(proposal.sampling.get(name, value) == value for name, value in whole.items())
