"""A model that judges, served for real: what a random one says is no verdict, and is told as a reason, not a score."""

from collections.abc import AsyncIterator
from typing import Literal

import numpy as np
import pytest
import simplejpeg

from agent_backend.judges.model_judge import JudgeEndpoint, ModelJudge
from agent_backend.policy.completions import RequestTimeouts
from benchmarks.parts.model_servers.launcher import Server
from protocol.actions.types import Click, Finish
from protocol.blobs import BlobRef
from protocol.evaluation.judge_prompts import JudgePrompt
from protocol.evaluation.judgements import REFERENCE_PARAMETER, JudgeRef, JudgeSettings
from tests.unit.protocol.examples import TASK, trajectory

BOUND = 120.0
VOTES = 3
ASKED = TASK.model_copy(update={"parameters": {REFERENCE_PARAMETER: "42"}})
ATTEMPT = trajectory(Click(x=1, y=1), Finish(answer="42"), task=ASKED, answer="42")


async def picture(ref: BlobRef) -> bytes:
    """A small screenshot, whichever is asked for."""
    return bytes(simplejpeg.encode_jpeg(np.full((56, 84, 3), 200, np.uint8), quality=90, colorspace="RGB"))


@pytest.fixture(params=["outcome_model", "reference"])
async def judge(server: Server, request: pytest.FixtureRequest) -> AsyncIterator[ModelJudge]:
    kind: Literal["outcome_model", "reference"] = request.param
    made = ModelJudge(
        JudgeEndpoint(
            ref=JudgeRef(kind=kind, name="tiny", revision="1"),
            base_url=f"{server.url}/v1",
            model="tiny",
            settings=JudgeSettings(votes=VOTES, temperature=1.0, max_tokens=24, images=2),
            timeouts=RequestTimeouts(token=BOUND, total=BOUND),
        )
    )
    yield made
    await made.aclose()


async def test_what_a_random_model_says_is_a_reason_and_no_score(judge: ModelJudge) -> None:
    kept: dict[str, bytes] = {}

    async def save_blob(ref: BlobRef, data: bytes) -> None:
        kept[ref.sha256] = data

    said = await judge.judge(ATTEMPT, blob=picture, save_blob=save_blob)
    assert said.score is None
    assert said.unsaid in ("unreadable", "cut_off", "contradictory", "out_of_range", "undecided")
    assert len(said.votes) == VOTES
    assert said.prompt is not None
    asked = JudgePrompt.model_validate_json(kept[said.prompt.sha256])
    assert asked.judge == judge.ref
