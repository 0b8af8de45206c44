"""Replay checks: repeat an episode's acts in a fresh sandbox."""

import asyncio
import contextlib
from uuid import UUID, uuid4

from django.conf import settings
from django.db import connections

from annotation_app.blobs.selectors import blob_read
from annotation_app.reviews.schemas import CheckReport, CheckStep
from annotation_app.reviews.selectors.jobs import corrected_trajectory, image_of
from annotation_app.reviews.services import check_end, job_begin, job_fail, job_heartbeat, job_progress_set
from protocol.actions.types import CONTROL_KINDS, UploadFile
from protocol.trajectory.observations import Observation, Verdict
from protocol.trajectory.steps import Step
from protocol.trajectory.trajectories import Trajectory
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import BridgeError
from vm_bridge.machine import Lease, Machine

MACHINE_TTL_SECONDS = 240.0
"""How long a machine waits for a worker that died (seconds); renewed before every act."""
MACHINE_WAIT_SECONDS = 120.0
"""How long a check waits for a free machine (seconds). People take priority."""
SAME_PICTURE_SHARE = 0.8
"""A picture that shares less of its edges with the recorded one is another."""


def check_run(*, job_id: UUID, episode_id: UUID) -> None:
    """Replay an episode, act by act, until it is done or cancelled. A job that is not queued is left unchanged."""
    attempt = corrected_trajectory(episode_id=episode_id)
    if not job_begin(job_id=job_id, total=len(attempt.steps)):
        return
    try:
        with job_heartbeat(job_id=job_id), asyncio.Runner() as loop:
            report = loop.run(_check(job_id, attempt, *image_of(episode_id=episode_id)))
    except BridgeError as error:
        job_fail(job_id=job_id, error=f"{error}")
        return
    if report is not None:
        check_end(job_id=job_id, report=report)


async def _check(job_id: UUID, attempt: Trajectory, image: str, pool: str) -> CheckReport | None:
    """Do it on a machine of its own, which goes back afterwards; None where it was cancelled. Raises BridgeError."""
    async with BridgeClient(settings.ENV.bridge_url, settings.ENV.bridge_master) as bridge:
        lease = await bridge.allocate(
            image=image, holder=f"check:{job_id}", pool=pool, ttl=MACHINE_TTL_SECONDS, wait=MACHINE_WAIT_SECONDS
        )
        try:
            machine = bridge.machine(lease)
            steps = await _replay_steps(job_id, attempt, bridge, lease, machine)
            if steps is None:
                return None
            return check_report(attempt, steps, await machine.evaluate(answer=attempt.answer))
        finally:
            with contextlib.suppress(BridgeError):
                await bridge.release(lease)


async def _replay_steps(
    job_id: UUID, attempt: Trajectory, bridge: BridgeClient, lease: Lease, machine: Machine
) -> tuple[CheckStep, ...] | None:
    """The outcome of each act; the first that cannot be done ends the check. None where the job was cancelled."""
    await machine.prepare(attempt.task)
    done: list[CheckStep] = []
    for step in attempt.steps:
        if not await _report_progress(job_id, len(done)):
            return None
        await bridge.renew(lease, ttl=MACHINE_TTL_SECONDS)
        done.append(await _replay_step(machine, step))
        if done[-1].error:
            break
    return tuple(done) if await _report_progress(job_id, len(done)) else None


async def _report_progress(job_id: UUID, done: int) -> bool:
    """Say how far it is; whether it is to go on. A thread that asks the database leaves no connection behind."""

    def say() -> bool:
        try:
            return job_progress_set(job_id=job_id, done=done)
        finally:
            connections.close_all()

    return await asyncio.to_thread(say)


async def _replay_step(machine: Machine, step: Step) -> CheckStep:
    if step.action.kind in CONTROL_KINDS:
        return CheckStep(index=step.index, likeness=None)
    try:
        if isinstance(step.action, UploadFile):
            ref = step.action.blob
            await machine.stage_upload(await asyncio.to_thread(blob_read, ref.sha256), ref.media_type)
        transition = await machine.perform(uuid4().hex, step.action)
    except (BridgeError, FileNotFoundError) as error:
        return CheckStep(index=step.index, likeness=None, error=str(error) or type(error).__name__)
    if transition.error is not None and step.error is None:
        return CheckStep(index=step.index, likeness=None, error=transition.error.message)
    return CheckStep(index=step.index, likeness=await _picture_similarity(machine, step.after, transition.after))


async def _picture_similarity(machine: Machine, recorded: Observation | None, now: Observation) -> float | None:
    """How much two looks are alike; None where one has no picture, or the recorded one is lost."""
    if recorded is None or recorded.screenshot is None or now.screenshot is None:
        return None
    if recorded.screenshot == now.screenshot:
        return 1.0
    try:
        then = await asyncio.to_thread(blob_read, recorded.screenshot.sha256)
    except FileNotFoundError:
        return None
    from annotation_app.reviews.similarity import picture_similarity  # with numpy, which no other program needs

    return picture_similarity(then, await machine.blob(now.screenshot))


def check_report(attempt: Trajectory, steps: tuple[CheckStep, ...], verdict: Verdict) -> CheckReport:
    """What to say of it: a picture that differs is told, but only an act that fails, or another end, is a failure."""
    departs = (
        step.index for step in steps if step.error or (step.likeness is not None and step.likeness < SAME_PICTURE_SHARE)
    )
    failed = any(step.error for step in steps)
    recorded = attempt.verdict.success if attempt.verdict is not None else None
    if recorded is None:
        recorded = {"success": True, "failure": False}.get(attempt.outcome or "")
    same_end = recorded is None or verdict.success is None or verdict.success == recorded
    return CheckReport(steps=steps, departs_at=next(departs, None), verdict=verdict, executable=not failed and same_end)
