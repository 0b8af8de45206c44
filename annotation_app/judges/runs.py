"""Where runs meet the judges of the layer below."""

import asyncio
from collections.abc import Callable
from uuid import UUID

from pydantic import SecretStr

from agent_backend.errors import PolicyError, PolicyRejected
from agent_backend.judges.judge import Judge
from agent_backend.judges.model_judge import JudgeEndpoint, create_judge
from annotation_app.blobs.selectors import blob_read
from annotation_app.episodes.selectors.trajectories import episode_trajectory
from annotation_app.episodes.services import blob_upload
from annotation_app.judges import services
from annotation_app.judges.schemas import JudgeServer, RunPlan
from annotation_app.judges.selectors import judge_api_key
from protocol.base import FrozenModel
from protocol.blobs import BlobRef
from protocol.evaluation.judgements import Judgement
from protocol.trajectory.trajectories import Trajectory

CONCURRENT_EPISODES = 4
"""Episodes a run asks about at once; between two such it looks whether it is to stop."""


class JudgeAnswer(FrozenModel):
    """What came of one episode: the judgement and what was asked, or why the server would not have it."""

    judgement: Judgement | None = None
    prompts: tuple[tuple[BlobRef, bytes], ...] = ()
    error: str = ""


def run_execute(*, run_id: UUID, should_continue: Callable[[], bool] = lambda: True) -> None:
    """Judge what a queued run is about, until it is done or cancelled; any other is left as it is. It is left under way
    once `should_continue`, called before each few episodes, is false."""
    plan = services.run_begin(run_id=run_id)
    if plan is None:
        return
    with services.run_heartbeat(run_id=run_id), asyncio.Runner() as loop:
        judge = create_judge(_endpoint(plan.server))
        try:
            error = _judge_episodes(run_id, plan, judge, loop, should_continue)
        except PolicyError as unavailable:
            error = str(unavailable)
        finally:
            loop.run(judge.aclose())
    if should_continue():
        services.run_end(run_id=run_id, error=error)


def _judge_episodes(
    run_id: UUID, plan: RunPlan, judge: Judge, loop: asyncio.Runner, should_continue: Callable[[], bool]
) -> str:
    """Judge and store, a few episodes at a time; what is wrong where the server would not have a single one. Raises
    PolicyError where nobody answers."""
    judged = 0
    error = ""
    for begin in range(0, len(plan.episodes), CONCURRENT_EPISODES):
        if not should_continue():
            break
        attempts = [
            episode_trajectory(episode_id=episode) for episode in plan.episodes[begin : begin + CONCURRENT_EPISODES]
        ]
        answers = loop.run(_judge_together(judge, attempts))
        for attempt, one in zip(attempts, answers, strict=True):
            for ref, data in one.prompts:
                blob_upload(episode_id=UUID(attempt.id), ref=ref, data=data)
        judgements = tuple(one.judgement for one in answers if one.judgement is not None)
        judged += len(judgements)
        error = next((one.error for one in answers if one.error), error)
        goes_on = services.judgements_store(
            run_id=run_id,
            judge_id=plan.judge_id,
            answers=judgements,
            refused=len(answers) - len(judgements),
            error=error,
        )
        if not goes_on:
            break
    return "" if judged else error


async def _judge_together(judge: Judge, attempts: list[Trajectory]) -> list[JudgeAnswer]:
    """Ask about all of them at once. Raises PolicyError where nobody answers for one of them."""
    return await asyncio.gather(*(_judge_one(judge, attempt) for attempt in attempts))


async def _judge_one(judge: Judge, attempt: Trajectory) -> JudgeAnswer:
    prompts: list[tuple[BlobRef, bytes]] = []

    async def save_blob(ref: BlobRef, data: bytes) -> None:
        prompts.append((ref, data))

    try:
        judgement = await judge.judge(attempt, blob=_picture, save_blob=save_blob)
    except PolicyRejected as error:
        return JudgeAnswer(error=str(error))
    return JudgeAnswer(judgement=judgement, prompts=tuple(prompts))


async def _picture(ref: BlobRef) -> bytes:
    try:
        return await asyncio.to_thread(blob_read, ref.sha256)
    except FileNotFoundError:
        raise KeyError(ref.sha256) from None


def _endpoint(server: JudgeServer) -> JudgeEndpoint | None:
    """Where a judge is asked; None for the verifier."""
    if server.ref.kind == "verifier":
        return None
    return JudgeEndpoint(
        ref=server.ref,
        base_url=server.base_url,
        model=server.model,
        api_key=SecretStr(judge_api_key(server)),
        settings=server.settings,
    )
