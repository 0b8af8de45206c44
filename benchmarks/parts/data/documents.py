"""A step and a proposal as the platform stores them; a seeded database is filled with copies."""

from datetime import datetime, timedelta

from protocol.actions.types import Click
from protocol.blobs import BlobRef
from protocol.trajectory.observations import Observation
from protocol.trajectory.proposals import PolicyRef, Proposal
from protocol.trajectory.steps import Step

POLICY = PolicyRef(name="nano", revision="r1", dialect="ui_tars_1_5")


def build_step(picture: BlobRef, command_id: str, thought: str, moment: datetime) -> Step:
    """A person's click on a page of this picture, which does not change."""
    seen = Observation(
        screenshot=picture, width=160, height=90, captured_at=moment, settled=True, rest="rested", settle_ms=41.5
    )
    return Step(
        index=0,
        command_id=command_id,
        actor="human",
        decision="override",
        thought=thought,
        action=Click(x=20, y=30),
        before=seen,
        after=seen,
        started_at=moment,
        ended_at=moment + timedelta(milliseconds=120),
        decide_ms=812.25,
        policy=POLICY,
    )


def build_proposal(key: str, rank: int, moment: datetime) -> Proposal:
    """A click that two of a model's answers asked for."""
    text = f"click(point='<point>{10 * rank} 10</point>')"
    return Proposal(
        id=key,
        rank=rank,
        thought="maybe",
        action=Click(x=10 * rank, y=10),
        action_text=text,
        raw_text=f"Thought: maybe\nAction: {text}",
        count=2,
        likelihood=0.5,
        policy=POLICY,
        sampling={"temperature": 0.8, "n": 2},
        prompt_token_ids=(1, 2, 3),
        completion_token_ids=(4, 5),
        logprobs=(-0.25, -1.5),
        latency_ms=210.0,
        created_at=moment,
    )
