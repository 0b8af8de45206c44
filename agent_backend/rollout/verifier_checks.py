"""Checks whether the attempt broke a failed verifier. If so, the attempt failed; otherwise its result is unknown."""

from protocol.trajectory.observations import Verdict
from protocol.trajectory.tasks import Task
from vm_bridge.errors import BridgeError, VerifierFailed
from vm_bridge.machine import Machine

BROKEN_BY_ATTEMPT = "the verifier works on a fresh machine and not on what the attempt left"


async def judge_again(machine: Machine, task: Task, answer: str) -> Verdict | None:
    """A verdict on an attempt whose verifier failed; None if the verifier or the machine is at fault.

    The verifier is retried once. If it fails again, the machine is reset to the start of the task and the verifier
    judges that state. If that works, the attempt broke the verifier, for example by removing a file it needs, and the
    attempt failed. The reset discards the state of the attempt.
    """
    try:
        return await machine.evaluate(answer=answer)
    except VerifierFailed as failed:
        reason = str(failed)
    except BridgeError:
        return None
    try:
        await machine.prepare(task)
        control = await machine.evaluate()
    except BridgeError:
        return None
    if control.success is None:
        return None
    return control.model_copy(
        update={"success": False, "score": 0.0, "points": None, "reason": f"{BROKEN_BY_ATTEMPT}: {reason}"}
    )
