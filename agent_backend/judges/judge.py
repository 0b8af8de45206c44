"""The interface of judges, and the judge that needs no model: the task's own verifier."""

from datetime import UTC, datetime
from typing import Protocol

from agent_backend.interfaces import SaveBlob, discard_blob
from agent_backend.policy.openai_chat import ReadBlob
from protocol.evaluation.judgements import VERIFIER, Judgement, JudgeRef
from protocol.trajectory.trajectories import Trajectory


class Judge(Protocol):
    """Something that judges whole attempts."""

    ref: JudgeRef

    async def judge(self, trajectory: Trajectory, *, blob: ReadBlob, save_blob: SaveBlob = discard_blob) -> Judgement:
        """Judge an attempt; `blob` fetches pictures, `save_blob` stores the prompt.

        Every reply of a model is a judgement, also an unreadable one. Raises PolicyUnavailable if no server answers,
        and PolicyRejected if a server refuses this attempt.
        """
        ...

    async def aclose(self) -> None:
        """Release its resources."""
        ...


class VerifierJudge:
    """Repeats the verdict of the task's verifier: done or not. A partial score is not a likelihood that the task was
    done."""

    ref = VERIFIER

    async def judge(self, trajectory: Trajectory, *, blob: ReadBlob, save_blob: SaveBlob = discard_blob) -> Judgement:
        """See `Judge.judge`."""
        verdict = trajectory.verdict
        success = None if verdict is None else verdict.success
        return Judgement(
            trajectory=trajectory.id,
            judge=self.ref,
            score=None if success is None else float(success),
            unsaid="no_verifier" if success is None else None,
            words="" if verdict is None else verdict.reason,
            judged_at=datetime.now(UTC),
        )

    async def aclose(self) -> None:
        """Nothing is held."""
