"""Judges over a server that answers as it is told: votes, hostile replies, lost screens, and what goes out."""

from typing import Any

import httpx
import pytest

from agent_backend.errors import PolicyRejected, PolicyUnavailable
from agent_backend.judges.model_judge import JudgeEndpoint, ModelJudge
from protocol.actions.types import Click, Finish
from protocol.blobs import BlobRef
from protocol.evaluation.judgements import CRITERIA_PARAMETER, REFERENCE_PARAMETER, Judgement, JudgeRef, JudgeSettings
from protocol.trajectory.trajectories import Trajectory
from tests.unit.agent_backend.policy.fake_model_server import Chunk, Events, ModelServer, chunk
from tests.unit.protocol.examples import TASK, trajectory

REF = JudgeRef(kind="outcome_model", name="orm", revision="3")
ATTEMPT = trajectory(*(Click(x=index, y=1) for index in range(7)), Finish())


def judge(server: ModelServer, **settings: Any) -> ModelJudge:
    endpoint = JudgeEndpoint.model_validate(
        {
            "ref": {**REF.model_dump(), "kind": settings.pop("kind", REF.kind)},
            "base_url": "http://judge/v1",
            "model": "orm",
            "settings": JudgeSettings.model_validate(settings),
            "timeouts": {"pause": 0.0},
        }
    )
    return ModelJudge(endpoint, transport=server.transport)


async def blob(ref: BlobRef) -> bytes:
    return ref.sha256.encode()


async def asked(server: ModelServer, attempt: Trajectory = ATTEMPT, **settings: Any) -> Judgement:
    return await judge(server, **settings).judge(attempt, blob=blob)


def stop(index: int, reason: str) -> Chunk:
    return {"choices": [{"index": index, "delta": {}, "finish_reason": reason}]}


def token(index: int, text: str, **others: float) -> Chunk:
    """A token with its alternatives and their logprobs."""
    top = [{"token": f" {word}", "logprob": logprob} for word, logprob in others.items()]
    made = chunk(index, text, ids=[7])
    made["choices"][0]["logprobs"] = {"content": [{"token": text, "logprob": -0.1, "top_logprobs": top}]}
    return made


async def test_the_history_the_last_screens_and_the_votes_are_asked_for_in_one_request() -> None:
    server = ModelServer(Events([chunk(0, "Verdict: yes"), chunk(1, "Verdict: no"), chunk(2, "Verdict: yes")]))
    said = await asked(server, votes=3, temperature=1.0)
    (body,) = server.asked
    assert (body["n"], body["temperature"], body["top_logprobs"]) == (3, 1.0, 5)
    kinds = [part["type"] for part in body["messages"][0]["content"]]
    assert kinds.count("image_url") == 5
    assert kinds[0] == kinds[-1] == "text"
    assert said.score == pytest.approx(2 / 3)
    assert [vote.score for vote in said.votes] == [1.0, 0.0, 1.0]


async def test_the_score_is_the_model_s_own_belief_in_yes() -> None:
    server = ModelServer(
        Events([token(0, "Verdict:", other=-3.0), token(0, " no", no=-0.5, yes=-1.0), stop(0, "stop")])
    )
    said = await asked(server)
    assert said.score == pytest.approx(0.3775, abs=1e-3)
    assert said.completion_tokens == 2


async def test_a_server_without_logprobs_is_asked_without_and_the_word_counts() -> None:
    server = ModelServer(Events([chunk(0, "Verdict: yes")]))
    server.refuses = lambda body: "logprobs are not supported" if "logprobs" in body else None
    said = await asked(server)
    assert (said.score, said.completion_tokens) == (1.0, None)


@pytest.mark.parametrize(
    ("sent", "unsaid"),
    [
        ([], "missing"),
        ([chunk(0, "\x00\ufffd" * 100)], "unreadable"),
        ([chunk(0, "I cannot assist with that request."), stop(0, "content_filter")], "unreadable"),
        ([chunk(0, "Verdict: yes"), stop(0, "length")], "cut_off"),
        ([chunk(0, "Verdict: yes\nVerdict: no")], "contradictory"),
        ([chunk(0, "Verdict: 17")], "out_of_range"),
        ([chunk(5, "")], "unreadable"),
    ],
)
async def test_a_hostile_reply_is_no_score_and_no_exception(sent: list[Chunk], unsaid: str) -> None:
    said = await asked(ModelServer(Events(sent)))
    assert (said.score, said.unsaid) == (None, unsaid)


async def test_more_replies_than_votes_do_not_count() -> None:
    sent = [chunk(0, "Verdict: no"), *(chunk(index, "Verdict: yes") for index in range(1, 9))]
    said = await asked(ModelServer(Events(sent)))
    assert (said.score, len(said.votes)) == (0.0, 1)


async def test_a_lost_screen_is_a_reason_and_the_model_is_not_asked() -> None:
    server = ModelServer(Events([chunk(0, "Verdict: yes")]))

    async def lost(ref: BlobRef) -> bytes:
        raise KeyError(ref.sha256)

    said = await judge(server).judge(ATTEMPT, blob=lost)
    assert (said.unsaid, server.asked) == ("screen_lost", [])


async def test_who_cannot_be_asked_is_no_judgement() -> None:
    with pytest.raises(PolicyUnavailable):
        await asked(ModelServer(httpx.ConnectError("refused")))
    with pytest.raises(PolicyRejected):
        await asked(ModelServer(httpx.Response(400, json={"error": {"message": "the context is too long"}})))


async def test_no_answer_is_wrong_without_asking() -> None:
    server = ModelServer(Events([chunk(0, "Verdict: yes")]))
    question = TASK.model_copy(update={"parameters": {REFERENCE_PARAMETER: "Paris"}})
    said = await asked(server, ATTEMPT.model_copy(update={"task": question, "answer": " "}), kind="reference")
    assert (said.score, server.asked) == (0.0, [])


async def test_an_address_no_request_can_go_to_is_refused_at_once() -> None:
    with pytest.raises(ValueError):
        JudgeEndpoint(ref=REF, base_url="ftp://judge", model="orm")


async def test_the_last_screens_are_held_against_the_criteria() -> None:
    criteria = ["The cart is empty.", "The total says 0.00."]
    checked = ATTEMPT.model_copy(
        update={"task": TASK.model_copy(update={"parameters": {CRITERIA_PARAMETER: criteria}})}
    )
    server = ModelServer(Events([chunk(0, "Verdict: yes")]))
    assert (await asked(server, checked, kind="screen", images=2)).score == 1.0
    (body,) = server.asked
    content = body["messages"][0]["content"]
    assert [part["type"] for part in content].count("image_url") == 2
    assert all(text in content[0]["text"] for text in ("Criterion 1: The cart is empty.", "Criterion 2: The total"))
    assert "Thought" not in content[0]["text"], "what the agent says of itself is no evidence here"
    silent = ModelServer(Events([chunk(0, "Verdict: yes")]))
    assert (await asked(silent, kind="screen")).unsaid == "no_criteria"
    assert not silent.asked
