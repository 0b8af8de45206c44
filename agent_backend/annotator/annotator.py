"""What a simulated annotator does at a desk: takes the first candidate that its expert agrees with, else acts."""

import uuid
from collections.abc import Awaitable, Callable
from typing import Literal

from agent_backend.annotator.desk import Desk
from agent_backend.errors import DeskRefused
from vm_bridge.machine import ExpertSuggestion
from vocabulary.actions import Action, CallUser, Finish, Infeasible
from vocabulary.base import Frozen
from vocabulary.equivalence import equivalent
from vocabulary.messages import Accept, Act, FinishEpisode, LeaveEpisode
from vocabulary.proposals import Proposal

AIM = 24
"""How far from the expert's point a candidate may click (pixels), as between two people (decision 238)."""
STALE = frozenset({"stale_accept", "unknown_proposal", "not_running", "queue_full", "in_takeover"})
"""Refusals after which somebody looks again: the desk had moved on."""

Ending = Literal["success", "failure", "infeasible"]
"""How the annotator itself ends an episode."""
Ask = Callable[[], Awaitable[ExpertSuggestion | None]]


class Annotated(Frozen):
    """How an episode went."""

    episode: str
    task: str
    seed: int
    accepted: int = 0
    overridden: int = 0
    """Steps the annotator did though candidates were offered."""
    shown: int = 0
    """Steps it did where nobody proposed."""
    ended: Literal["success", "failure", "infeasible", "skipped", "ended"]
    """Its own word; `ended`: the episode ended without it."""

    @property
    def labels(self) -> int:
        """Steps whose thought and action are the annotator's."""
        return self.overridden + self.shown


async def annotate(desk: Desk, ask: Ask, *, aim: int = AIM) -> Annotated:
    """Work an episode to its end. Raises what `Desk` raises, and what `ask` does."""
    task = desk.state.task
    counts = {"accepted": 0, "overridden": 0, "shown": 0}
    while True:
        await desk.until(lambda: desk.steering or desk.state.status in ("finished", "left", "failed"))
        ended = desk.state.outcome if desk.state.status == "finished" else None
        if desk.state.status != "running":
            known = ended if ended in ("success", "failure", "infeasible") else "ended"
            return Annotated(episode=desk.state.id, task=task.name or task.id, seed=task.seed, ended=known, **counts)
        try:
            kind = await _decide(desk, ask, aim)
        except DeskRefused as error:
            if error.code not in STALE:
                raise
            continue
        if kind in counts:
            counts[kind] += 1
        else:
            return Annotated(episode=desk.state.id, task=task.name or task.id, seed=task.seed, ended=kind, **counts)


async def _decide(
    desk: Desk, ask: Ask, aim: int
) -> Literal["accepted", "overridden", "shown", "success", "failure", "infeasible", "skipped"]:
    """One decision, carried out; what it was."""
    page = desk.state.observation.page if desk.state.observation is not None else None
    if page is not None and (page.done or page.truncated):
        won = page.success if page.success is not None else (page.score or 0) > 0
        return await _finish(desk, "success" if won else "failure")
    # The expert is asked last: until then the policy may still move what it is asked about.
    await desk.until(lambda: desk.state.thinking in ("ready", "failed", "off") or desk.state.status != "running")
    advice = await ask()
    if advice is None or isinstance(advice.action, CallUser):
        await desk.send(LeaveEpisode(command_id=_name(), how="skip", reason="the simulated annotator knows no way on"))
        return "skipped"
    if isinstance(advice.action, Finish):
        return await _finish(desk, "success")
    if isinstance(advice.action, Infeasible):
        return await _finish(desk, "infeasible")
    before, offered = len(desk.state.steps), desk.state.proposals
    chosen = agreed(offered, advice.action, aim)
    if chosen is not None:
        await desk.send(Accept(command_id=_name(), proposal_id=chosen.id, base_version=before))
    else:
        await desk.send(Act(command_id=_name(), action=advice.action, thought=advice.thought))
    await desk.until(lambda: len(desk.state.steps) > before or desk.state.status != "running")
    return "accepted" if chosen is not None else "overridden" if offered else "shown"


def agreed(offered: tuple[Proposal, ...], action: Action, aim: int = AIM) -> Proposal | None:
    """The best candidate that means what the expert would do."""
    return next(
        (
            candidate
            for candidate in offered
            if candidate.action is not None and equivalent(candidate.action, action, tolerance=aim)
        ),
        None,
    )


async def _finish(desk: Desk, outcome: Ending) -> Ending:
    await desk.send(FinishEpisode(command_id=_name(), outcome=outcome))
    return outcome


def _name() -> str:
    return uuid.uuid4().hex
