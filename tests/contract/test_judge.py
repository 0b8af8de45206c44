"""The contract of every judge: one word on each attempt, in its own name, a score or a reason for none."""

from collections.abc import AsyncIterator, Callable

import httpx
import pytest

from agent_backend.judges.judge import Judge, VerifierJudge
from agent_backend.judges.model_judge import JudgeEndpoint, ModelJudge
from agent_backend.scripted_policy.judge import JUDGE_MODEL
from agent_backend.scripted_policy.server import create_app
from protocol.actions.types import Click, Finish
from protocol.blobs import BlobRef
from protocol.dialects.families import get_dialect
from protocol.evaluation.judge_prompts import JudgePrompt
from protocol.evaluation.judgements import REFERENCE_PARAMETER, JudgeKind, Judgement, JudgeRef
from protocol.trajectory.observations import Verdict
from protocol.trajectory.trajectories import Trajectory
from tests.unit.protocol.examples import TASK, trajectory

QUESTION = TASK.model_copy(update={"parameters": {REFERENCE_PARAMETER: "Paris"}})
RIGHT = trajectory(
    Click(x=1, y=1), Finish(answer="Paris"), task=QUESTION, answer="Paris", verdict=Verdict(success=True, score=1)
)
WRONG = trajectory(
    Finish(answer="Rome"), Click(x=1, y=1), task=QUESTION, answer="Rome", verdict=Verdict(success=False, score=0.4)
)
UNKNOWN = trajectory(Click(x=1, y=1), verdict=Verdict(success=None, score=0))


def model_judge_factory(kind: JudgeKind) -> Callable[[], Judge]:
    """A judge that asks the scripted server."""

    def make() -> Judge:
        app = create_app((), get_dialect("ui_tars_1_5"), pace=0)
        ref = JudgeRef(kind=kind, name="scripted", revision="1", scripted=True)
        endpoint = JudgeEndpoint(ref=ref, base_url="http://judge/v1", model=JUDGE_MODEL)
        return ModelJudge(endpoint, transport=httpx.ASGITransport(app=app))

    return make


JUDGES = {
    "verifier": VerifierJudge,
    "outcome_model": model_judge_factory("outcome_model"),
    "reference": model_judge_factory("reference"),
}

ALWAYS_ANSWER = {"outcome_model"}
"""Kinds that find something to read in every attempt."""


@pytest.fixture(params=list(JUDGES))
async def judge(request: pytest.FixtureRequest) -> AsyncIterator[Judge]:
    made: Judge = JUDGES[request.param]()
    yield made
    await made.aclose()


async def blob(ref: BlobRef) -> bytes:
    return b"a picture"


async def run_judge(judge: Judge, attempt: Trajectory) -> Judgement:
    said = await judge.judge(attempt, blob=blob)
    assert (said.trajectory, said.judge) == (attempt.id, judge.ref)
    assert Judgement.model_validate_json(said.model_dump_json()) == said
    return said


async def test_what_was_done_scores_higher_than_what_was_not(judge: Judge) -> None:
    right, wrong = await run_judge(judge, RIGHT), await run_judge(judge, WRONG)
    assert right.score is not None
    assert wrong.score is not None
    assert right.score > 0.5 > wrong.score
    assert (right.passes(0.5), wrong.passes(0.5)) == (True, False)


async def test_a_judge_that_cannot_say_has_a_reason_and_no_score(judge: Judge) -> None:
    said = await run_judge(judge, UNKNOWN)
    if judge.ref.kind in ALWAYS_ANSWER:
        assert said.passes(0.5) is False, "it always has something to read"
    else:
        assert (said.score, said.passes(0)) == (None, None)
        assert said.unsaid in ("no_verifier", "no_reference")


async def test_what_a_model_was_asked_is_kept_word_for_word(judge: Judge) -> None:
    kept: dict[BlobRef, bytes] = {}

    async def save_blob(ref: BlobRef, data: bytes) -> None:
        kept[ref] = data

    said = await judge.judge(RIGHT, blob=blob, save_blob=save_blob)
    assert list(kept) == ([] if said.prompt is None else [said.prompt])
    for ref, data in kept.items():
        assert BlobRef.of(data, ref.media_type) == ref
        assert JudgePrompt.model_validate_json(data).judge == judge.ref
        assert said.votes[0].words
