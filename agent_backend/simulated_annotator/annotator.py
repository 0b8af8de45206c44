"""A simulated annotator in an episode: it accepts the first candidate that its expert agrees with, else it acts."""

import uuid
from collections.abc import Awaitable, Callable
from typing import Literal

from agent_backend.errors import WebAppRejected
from agent_backend.simulated_annotator.web_client import EpisodeConnection
from protocol.actions.equivalence import equivalent
from protocol.actions.types import Action, CallUser, Finish, Infeasible
from protocol.base import FrozenModel
from protocol.messages.events import Accept, Act, FinishEpisode, LeaveEpisode
from protocol.trajectory.proposals import Proposal
from vm_bridge.machine import ExpertSuggestion

CLICK_TOLERANCE_PIXELS = 24
"""Maximum distance of a candidate's click from the expert's point (pixels), as between two people
(docs/adr/review.md)."""
STALE_CODES = frozenset({"stale_accept", "unknown_proposal", "not_running", "queue_full", "in_takeover"})
"""Rejection codes that mean the episode state had changed. The annotator then decides again from the new state."""

EpisodeOutcome = Literal["success", "failure", "infeasible"]
"""Outcomes with which the annotator ends an episode."""
SuggestionSource = Callable[[], Awaitable[ExpertSuggestion | None]]


class AnnotationSummary(FrozenModel):
    """Summary of an annotated episode."""

    episode: str
    task: str
    seed: int
    policy: str
    """The policy that proposed last, as `NAME REVISION`; empty if there was none."""
    accepted: int = 0
    overridden: int = 0
    """Steps that the annotator did itself although candidates were offered."""
    shown: int = 0
    """Steps that it did without proposals."""
    ended: Literal["success", "failure", "infeasible", "skipped", "ended"]
    """The annotator's own outcome; `ended`: the episode ended without the annotator."""

    @property
    def labels(self) -> int:
        """Steps whose thought and action are the annotator's."""
        return self.overridden + self.shown


async def annotate(
    connection: EpisodeConnection, suggest: SuggestionSource, *, aim: int = CLICK_TOLERANCE_PIXELS
) -> AnnotationSummary:
    """Work an episode to its end. Raises what `EpisodeConnection` and `suggest` raise."""
    task = connection.state.task
    counts, policy = {"accepted": 0, "overridden": 0, "shown": 0}, ""

    def summarize(ended: Literal["success", "failure", "infeasible", "skipped", "ended"]) -> AnnotationSummary:
        return AnnotationSummary(
            episode=connection.state.id,
            task=task.name or task.id,
            seed=task.seed,
            policy=policy,
            ended=ended,
            **counts,
        )

    while True:
        await connection.until(
            lambda: connection.has_control or connection.state.status in ("finished", "left", "failed")
        )
        ended = connection.state.outcome if connection.state.status == "finished" else None
        if connection.state.status != "running":
            return summarize(ended if ended in ("success", "failure", "infeasible") else "ended")
        if (ref := connection.state.policy) is not None:
            policy = f"{ref.name} {ref.revision}"
        try:
            kind = await _decide(connection, suggest, aim)
        except WebAppRejected as error:
            if error.code not in STALE_CODES:
                raise
            continue
        if kind == "accepted" or kind == "overridden" or kind == "shown":
            counts[kind] += 1
        else:
            return summarize(kind)


async def _decide(
    connection: EpisodeConnection, suggest: SuggestionSource, aim: int
) -> Literal["accepted", "overridden", "shown", "success", "failure", "infeasible", "skipped"]:
    """Make one decision and carry it out. Returns the kind of decision."""
    page = connection.state.observation.page if connection.state.observation is not None else None
    if page is not None and (page.done or page.truncated):
        succeeded = page.success if page.success is not None else (page.score or 0) > 0
        return await _finish(connection, "success" if succeeded else "failure")
    # Ask the expert after the policy has finished, because the policy may still change the state.
    await connection.until(
        lambda: connection.state.thinking in ("ready", "failed", "off") or connection.state.status != "running"
    )
    suggestion = await suggest()
    if suggestion is None or isinstance(suggestion.action, CallUser):
        await connection.send(
            LeaveEpisode(command_id=_new_command_id(), how="skip", reason="the simulated annotator knows no way on")
        )
        return "skipped"
    if isinstance(suggestion.action, Finish):
        return await _finish(connection, "success")
    if isinstance(suggestion.action, Infeasible):
        return await _finish(connection, "infeasible")
    before, proposals = len(connection.state.steps), connection.state.proposals
    matching = find_matching_proposal(proposals, suggestion.action, aim)
    if matching is not None:
        await connection.send(
            Accept(command_id=_new_command_id(), proposal_id=matching.id, base_version=before, actions=1)
        )
    else:
        await connection.send(Act(command_id=_new_command_id(), action=suggestion.action, thought=suggestion.thought))
    await connection.until(lambda: len(connection.state.steps) > before or connection.state.status != "running")
    return "accepted" if matching is not None else "overridden" if proposals else "shown"


def find_matching_proposal(
    proposals: tuple[Proposal, ...], action: Action, aim: int = CLICK_TOLERANCE_PIXELS
) -> Proposal | None:
    """The first candidate that means the same as the expert's action; None if there is none."""
    return next(
        (
            candidate
            for candidate in proposals
            if candidate.action is not None and equivalent(candidate.action, action, tolerance=aim)
        ),
        None,
    )


async def _finish(connection: EpisodeConnection, outcome: EpisodeOutcome) -> EpisodeOutcome:
    await connection.send(FinishEpisode(command_id=_new_command_id(), outcome=outcome))
    return outcome


def _new_command_id() -> str:
    return uuid.uuid4().hex
