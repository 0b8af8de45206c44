"""Decides the reward of an attempt. The first of these with a result decides: verifier, reference answer, criteria on
the last screens, a model that reads the whole attempt."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from agent_backend.errors import PolicyMisconfigured, PolicyRejected
from agent_backend.interfaces import SaveBlob
from agent_backend.judges.judge import Judge
from agent_backend.judges.reward_judges import RewardJudge, RewardJudges
from agent_backend.policy.openai_chat import ReadBlob
from agent_backend.rollout.attempts import AttemptResult, AttemptRunner
from protocol.blobs import BlobRef
from protocol.evaluation.judgements import Judgement
from protocol.providers import Prices
from protocol.training.replies import readable_share, reply_lengths
from protocol.trajectory.rewards import AttemptReward, JudgedBy
from protocol.trajectory.tasks import Task
from protocol.trajectory.trajectories import Trajectory, without_undone_steps


def open_judges(settings: RewardJudges, environment: Mapping[str, str]) -> tuple[tuple[RewardJudge, Judge], ...]:
    """The judges in the order in which they are asked, each with a client of its server."""
    return tuple((judge, judge.open(environment)) for judge in settings.in_order)


class RewardDecider:
    """Decides the rewards of attempts, and stores the requests and replies of judges."""

    def __init__(self, judges: Sequence[tuple[RewardJudge, Judge]], log: Path) -> None:
        """`judges` are asked in this order. `log` is a file of JSON Lines, one `Judgement` a line. The prompts are in
        the folder `<log>.prompts`."""
        self._judges, self._log = tuple(judges), log

    async def aclose(self) -> None:
        """Close the connections to the judges' servers."""
        for _, judge in self._judges:
            await judge.aclose()

    async def decide(self, trajectory: Trajectory, blob: Callable[[BlobRef], bytes | None]) -> AttemptReward:
        """What a policy's attempt earned. `blob` has its pictures.

        Raises PolicyUnavailable and PolicyMisconfigured if a required judge does not answer. The attempt then has no
        reward.
        """

        async def read(ref: BlobRef) -> bytes:
            if (data := blob(ref)) is None:
                raise KeyError(ref.sha256)
            return data

        measured = AttemptReward(
            readable_share=readable_share(trajectory), reply_tokens=reply_lengths(without_undone_steps(trajectory))
        )
        by_verifier = reward_by_verifier(trajectory)
        if by_verifier is not None:
            return measured.model_copy(update=by_verifier)
        if not self._judges:
            return measured
        if trajectory.truncated:
            return measured.model_copy(update={"value": 0.0, "unearned": "out_of_steps"})
        consulted: list[JudgedBy] = []
        for settings, judge in self._judges:
            said = await self._ask(settings, judge, trajectory, read)
            consulted.append(said)
            if said.score is not None:
                value = float(said.score >= said.threshold)
                return measured.model_copy(update={"value": value, "source": said.kind, "judges": tuple(consulted)})
        return measured.model_copy(update={"judges": tuple(consulted)})

    async def _ask(self, settings: RewardJudge, judge: Judge, trajectory: Trajectory, read: ReadBlob) -> JudgedBy:
        opinion = JudgedBy(
            kind=settings.kind,
            name=settings.ref.name,
            revision=settings.revision,
            abstained="refused",
            threshold=settings.threshold,
            votes=settings.settings.votes,
        )
        try:
            judgement = await judge.judge(trajectory, blob=read, save_blob=self._save_prompt)
        except PolicyMisconfigured:
            raise
        except PolicyRejected:
            return opinion
        self._write(judgement)
        return opinion.model_copy(
            update={
                "score": judgement.score,
                "abstained": judgement.unsaid or "",
                "prompt_tokens": judgement.prompt_tokens,
                "completion_tokens": judgement.completion_tokens,
                "cost_usd": judgement_cost(judgement, settings.prices),
                "latency_ms": judgement.latency_ms,
            }
        )

    def _write(self, judgement: Judgement) -> None:
        with self._log.open("ab") as lines:
            lines.write(judgement.model_dump_json().encode() + b"\n")

    @property
    def _save_prompt(self) -> SaveBlob:
        async def save(ref: BlobRef, data: bytes) -> None:
            folder = self._log.with_name(f"{self._log.name}.prompts")
            folder.mkdir(exist_ok=True)
            (folder / f"{ref.sha256}.json").write_bytes(data)

        return save


def rewarded(attempt_runner: AttemptRunner, decider: RewardDecider) -> AttemptRunner:
    """A runner that adds the reward to each attempt before it returns it. Raises what both raise."""

    async def attempt(task: Task) -> AttemptResult:
        result = await attempt_runner(task)
        if result.trajectory is None:
            return result
        reward = await decider.decide(result.trajectory, result.blob)
        return replace(result, trajectory=result.trajectory.model_copy(update={"reward": reward}))

    return attempt


def reward_by_verifier(trajectory: Trajectory) -> dict[str, object] | None:
    """The fields of a reward if the task's verifier gave a verdict; else None.

    An attempt that waits until its steps run out never reports that it is done, and earns nothing. A task that counts
    points earns its count at any time.
    """
    verdict = trajectory.verdict
    if verdict is None or verdict.success is None:
        return None
    if trajectory.truncated and verdict.success and verdict.points is None:
        return {"value": 0.0, "source": "verifier", "unearned": "out_of_steps"}
    return {"value": float(verdict.success), "source": "verifier"}


def judgement_cost(judgement: Judgement, prices: Prices | None) -> float | None:
    """US dollars; None where no prices are known or the server counted no tokens."""
    if prices is None or judgement.prompt_tokens is None or judgement.completion_tokens is None:
        return None
    return (judgement.prompt_tokens * prices.input + judgement.completion_tokens * prices.output) / 1_000_000
