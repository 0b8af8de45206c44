"""Attempts of a policy, made by hand, as a rollout would write them."""

from typing import Any

from protocol.actions.types import Click
from protocol.trajectory.observations import BrowserPage, Verdict
from protocol.trajectory.trajectories import Trajectory
from tests.unit.protocol.examples import POLICY, TASK, observation, proposal, step, trajectory


def example_attempt(
    name: str,
    success: bool | None,
    *,
    steps: int = 1,
    suite: str = "games",
    seed: int = 0,
    score: float | None = None,
    pages: tuple[float | None, ...] = (),
    tokens: int | None = None,
    run: str = "a",
    **fields: Any,
) -> Trajectory:
    """An attempt by the policy alone, judged by a verifier; `pages` are what the page said after each step."""
    offer = proposal(1, Click(x=1, y=1), completion_token_ids=None if tokens is None else tuple(range(tokens)))
    made = [
        step(
            index,
            Click(x=index, y=1),
            actor="policy",
            decision="auto",
            proposal_id=offer.id,
            thought="abcd",
            after=observation(f"screen-{index + 1}").model_copy(update={"page": page(pages, index)}),
        )
        for index in range(steps)
    ]
    values: dict[str, Any] = {
        "id": f"{run}-{suite}-{name}-{seed}",
        "task": TASK.model_copy(update={"suite": suite, "name": name, "seed": seed}),
        "origin": "rollout",
        "steps": tuple(made),
        "proposals": tuple((offer,) for _ in made),
        "policies": (POLICY,),
        "outcome": "success",
        "verdict": Verdict(success=success, score=float(bool(success)) if score is None else score),
    }
    return trajectory(**{**values, **fields})


def page(scores: tuple[float | None, ...], index: int) -> BrowserPage | None:
    """The page of a browser that keeps a score; None where none was given."""
    if index >= len(scores):
        return None
    return BrowserPage(title="", clock="exact", seed=0, time_ms=0, score=scores[index])
