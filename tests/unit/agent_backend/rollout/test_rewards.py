"""Who decides what an attempt earns, in which order, and what earns nothing."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agent_backend.errors import PolicyMisconfigured, PolicyRejected, PolicyUnavailable
from agent_backend.interfaces import SaveBlob, discard_blob
from agent_backend.judges.reward_judges import InvalidRewardJudges, RewardJudge, RewardJudges, read_reward_judges
from agent_backend.policy.openai_chat import ReadBlob
from agent_backend.rollout.attempts import AttemptResult
from agent_backend.rollout.rewards import RewardDecider, rewarded
from protocol.actions.types import Click, Finish
from protocol.blobs import BlobRef
from protocol.evaluation.judgements import Judgement, JudgeRef
from protocol.evaluation.records import record_attempt
from protocol.trajectory.observations import Verdict
from protocol.trajectory.rewards import AttemptReward
from protocol.trajectory.tasks import Task
from protocol.trajectory.trajectories import Trajectory
from tests.unit.protocol.examples import TASK, trajectory

ROLLOUT: dict[str, Any] = {"origin": "rollout", "terminated": True, "truncated": False, "verdict": None}
CUT_OFF: dict[str, Any] = {"terminated": False, "truncated": True}
KINDS = ("reference", "screen", "outcome_model")


def attempt(**fields: Any) -> Trajectory:
    return trajectory(Click(x=1, y=2), Finish(), **{**ROLLOUT, **fields})


def settings(kind: str, **fields: Any) -> RewardJudge:
    return RewardJudge.model_validate(
        {"kind": kind, "url": "http://judge/v1", "model": "m", "revision": "7", "threshold": 0.8, **fields}
    )


class FakeJudge:
    """Says what it is given: a score, the reason why there is none, or an error."""

    def __init__(self, kind: Any, says: float | str | Exception) -> None:
        self.ref = JudgeRef(kind=kind, name="m", revision="7")
        self.says, self.calls = says, 0

    async def judge(self, trajectory: Trajectory, *, blob: ReadBlob, save_blob: SaveBlob = discard_blob) -> Judgement:
        self.calls += 1
        if isinstance(self.says, Exception):
            raise self.says
        await save_blob(BlobRef.of(b"asked", "application/json"), b"asked")
        return Judgement.model_validate(
            {
                "trajectory": trajectory.id,
                "judge": self.ref,
                "judged_at": datetime(2026, 1, 1, tzinfo=UTC),
                "prompt_tokens": 1_000,
                "completion_tokens": 100,
                ("unsaid" if isinstance(self.says, str) else "score"): self.says,
            }
        )

    async def aclose(self) -> None: ...


async def decide(
    tmp_path: Path, made: Trajectory, *says: float | str | Exception, **fields: Any
) -> tuple[AttemptReward, list[int]]:
    """The reward, and how often each judge was asked."""
    judges = [FakeJudge(kind, each) for kind, each in zip(KINDS, says, strict=False)]
    decider = RewardDecider([(settings(each.ref.kind, **fields), each) for each in judges], tmp_path / "log.jsonl")
    return await decider.decide(made, lambda _: b"picture"), [each.calls for each in judges]


@pytest.mark.parametrize(
    ("fields", "value", "unearned"),
    [
        ({"verdict": Verdict(success=True, score=1)}, 1.0, ""),
        ({"verdict": Verdict(success=False, score=0.7)}, 0.0, ""),
        ({"verdict": Verdict(success=True, score=1), **CUT_OFF}, 0.0, "out_of_steps"),
        ({"verdict": Verdict(success=True, score=1, points=2048), **CUT_OFF}, 1.0, ""),
    ],
)
async def test_a_verifier_decides_and_no_judge_is_asked(
    tmp_path: Path, fields: dict[str, Any], value: float, unearned: str
) -> None:
    reward, calls = await decide(tmp_path, attempt(**fields), 1.0, 1.0, 1.0)
    assert (reward.value, reward.source, reward.unearned, reward.judged) == (value, "verifier", unearned, False)
    assert calls == [0, 0, 0]


@pytest.mark.parametrize(
    ("says", "value", "source", "calls"),
    [
        ((0.9, 0.0, 0.0), 1.0, "reference", [1, 0, 0]),
        ((0.79, 1.0, 1.0), 0.0, "reference", [1, 0, 0]),
        (("no_reference", 0.8, 0.0), 1.0, "screen", [1, 1, 0]),
        (("no_reference", "no_criteria", 0.1), 0.0, "outcome_model", [1, 1, 1]),
        ((PolicyRejected("too long"), "unreadable", 1.0), 1.0, "outcome_model", [1, 1, 1]),
        (("no_reference", "no_criteria", "undecided"), None, None, [1, 1, 1]),
        ((), None, None, []),
    ],
)
async def test_the_first_judge_that_says_anything_decides(
    tmp_path: Path, says: tuple[Any, ...], value: float | None, source: str | None, calls: list[int]
) -> None:
    reward, found = await decide(tmp_path, attempt(), *says)
    assert (reward.value, reward.source, found) == (value, source, calls)
    assert [bool(judge.abstained) for judge in reward.judges] == [
        *(True for _ in calls[1 : sum(calls)]),
        value is None,
    ][: sum(calls)]


async def test_what_a_judge_was_asked_and_what_it_cost_is_kept(tmp_path: Path) -> None:
    reward, _ = await decide(tmp_path, attempt(), "no_reference", 0.9, prices={"input": 2, "output": 10})
    assert [judge.cost_usd for judge in reward.judges] == [pytest.approx(0.003)] * 2
    assert reward.judges[1].model_dump(include={"name", "revision", "threshold", "votes"}) == {
        "name": "m", "revision": "7", "threshold": 0.8, "votes": 1,
    }  # fmt: skip
    kinds = [json.loads(line)["judge"]["kind"] for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert kinds == ["reference", "screen"]
    assert [file.read_bytes() for file in (tmp_path / "log.jsonl.prompts").iterdir()] == [b"asked"]
    record = record_attempt(attempt().model_copy(update={"reward": reward}))
    assert (record.reward, record.judge, record.outcome) == (1.0, "screen m 7", "unjudged")
    assert record.cost_usd == pytest.approx(0.006)


async def test_waiting_until_the_steps_run_out_earns_nothing_and_asks_nobody(tmp_path: Path) -> None:
    reward, calls = await decide(tmp_path, attempt(**CUT_OFF), 1.0, 1.0, 1.0)
    assert (reward.value, reward.unearned, calls) == (0.0, "out_of_steps", [0, 0, 0])


@pytest.mark.parametrize("error", [PolicyUnavailable("gone"), PolicyMisconfigured("no key")])
async def test_a_judge_that_does_not_answer_is_no_verdict(tmp_path: Path, error: Exception) -> None:
    with pytest.raises(type(error)):
        await decide(tmp_path, attempt(), "no_reference", error)


async def test_the_reward_is_on_the_attempt_before_it_is_written(tmp_path: Path) -> None:
    made = attempt(verdict=Verdict(success=True, score=1))

    async def play(_: Task) -> AttemptResult:
        return AttemptResult(made, "", {})

    async def lose(_: Task) -> AttemptResult:
        return AttemptResult(None, "the machine is gone", {})

    decider = RewardDecider((), tmp_path / "log.jsonl")
    done = await rewarded(play, decider)(TASK)
    assert done.trajectory is not None
    assert done.trajectory.reward == AttemptReward(value=1.0, source="verifier", reply_tokens=(0, 0))
    assert (await rewarded(lose, decider)(TASK)).trajectory is None


def test_a_file_names_judges_and_each_kind_once(tmp_path: Path) -> None:
    file = tmp_path / "judges.json"
    two = RewardJudges(judges=(settings("outcome_model"), settings("reference")))
    file.write_text(two.model_dump_json())
    assert [judge.kind for judge in read_reward_judges(file).in_order] == ["reference", "outcome_model"]
    for text in (
        "{",
        '{"judges": [{"kind": "verifier"}]}',
        two.model_dump_json().replace("outcome_model", "reference"),
    ):
        file.write_text(text)
        with pytest.raises(InvalidRewardJudges, match="judges"):
            read_reward_judges(file)
    with pytest.raises(InvalidRewardJudges, match="No such file"):
        read_reward_judges(tmp_path / "absent.json")
