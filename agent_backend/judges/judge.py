"""What every judge can do, and the one that asks nobody: what the task's own verifier said."""

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
        """Its word on an attempt; `blob` fetches pictures, `keep` stores what was asked.

        Whatever a model says is a judgement, that nothing can be made of it too. Raises PolicyUnavailable where nobody
        answers, and PolicyRejected where a server will not have this very attempt.
        """
        ...

    async def aclose(self) -> None:
        """Let go of what it holds."""
        ...


class VerifierJudge:
    """Says what the task's verifier said when the attempt ended: done or not. How far an attempt came that was not
    done is no likelihood that it was."""

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
