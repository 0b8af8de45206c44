"""Worker code: a model writes texts of the thoughts of recorded sessions, one after the other."""

import asyncio
import logging
from uuid import UUID

from agent_backend.errors import AgentError
from agent_backend.refinement.refiner import PROMPT_SHA256, Refiner, describe_step_action, typed_names
from agent_backend.refinement.variants import PROMPT_SHA256 as VARIANT_PROMPTS
from agent_backend.refinement.variants import VariantWriter, describe_step
from annotation_app.errors import ApplicationError, NotFound
from annotation_app.policies.api_keys import api_key_for
from annotation_app.policies.selectors import provider_key_of
from annotation_app.reviews.selectors.refinement import RefinementPlan, refinement_plan, writing_job
from annotation_app.reviews.selectors.variants import VariantPlan, variant_plan
from annotation_app.reviews.services import (
    batch_begin,
    batch_end,
    batch_heartbeat,
    batch_next_job,
    job_begin,
    job_fail,
    job_heartbeat,
    job_progress_set,
    refinement_store,
    variants_store,
    writing_end,
)
from protocol.trajectory.elements import describe_element, step_elements
from protocol.trajectory.speech import RefinedText, RefinedThought

logger = logging.getLogger(__name__)
FAILURES_IN_A_ROW = 3
"""Consecutive sessions without a result after which a batch stops, because the model does not answer."""


def batch_run(*, batch_id: UUID) -> None:
    """Write of each session of a batch until it is through or cancelled. A session that cannot be done is noted with
    its error. A batch that is not queued is left as it is."""
    attempt = batch_begin(batch_id=batch_id)
    if attempt is None:
        return
    failures, error = 0, ""
    with batch_heartbeat(batch_id=batch_id, attempt=attempt):
        while not error and (job_id := batch_next_job(batch_id=batch_id, attempt=attempt)) is not None:
            _write_session(job_id)
            unanswered = _unanswered(job_id)
            failures = failures + 1 if unanswered else 0
            error = unanswered if failures >= FAILURES_IN_A_ROW else ""
    batch_end(batch_id=batch_id, attempt=attempt, error=error)


def _unanswered(job_id: UUID) -> str:
    """The error of a session of which the model wrote nothing; empty for others, and for one that was deleted."""
    try:
        job = writing_job(job_id)
    except NotFound:
        return ""
    return job.error if job.status == "failed" and job.total and not job.done else ""


def _write_session(job_id: UUID) -> None:
    """One session of a batch; whatever is wrong with it, the others follow."""
    try:
        writing_run(job_id=job_id)
    except Exception as error:
        logger.exception("the state of a session in a batch could not be stored")
        job_fail(job_id=job_id, error=f"internal: {type(error).__name__}")


def writing_run(*, job_id: UUID) -> None:
    """Write until the job is done or cancelled. Existing texts are not requested again. A job that is not queued is
    left unchanged. If its session may not be used, the job fails."""
    run = _refinement_run if writing_job(job_id).kind == "refinement" else _variants_run
    try:
        run(job_id)
    except ApplicationError as error:
        job_fail(job_id=job_id, error=f"{error.code}: {error.message}")


def _refinement_run(job_id: UUID) -> None:
    plan = refinement_plan(job_id, PROMPT_SHA256)
    if not job_begin(job_id=job_id, total=len(plan.texts), prompt_sha256=PROMPT_SHA256):
        return
    refiner = Refiner(plan.base_url, plan.model, api_key=_key(plan.base_url))
    with job_heartbeat(job_id=job_id), asyncio.Runner() as loop:
        try:
            goes_on = _refine_all(job_id, plan, refiner, loop)
        except AgentError as error:
            job_fail(job_id=job_id, error=f"{error.code}: {error}")
            return
        finally:
            loop.run(refiner.aclose())
    if goes_on:
        writing_end(job_id=job_id)


def _variants_run(job_id: UUID) -> None:
    plan = variant_plan(job_id, VARIANT_PROMPTS)
    if not job_begin(job_id=job_id, total=len(plan.thoughts), prompt_sha256=VARIANT_PROMPTS[plan.kind]):
        return
    writer = VariantWriter(plan.base_url, plan.model, api_key=_key(plan.base_url))
    with job_heartbeat(job_id=job_id), asyncio.Runner() as loop:
        try:
            goes_on = _write_all(job_id, plan, writer, loop)
        except AgentError as error:
            job_fail(job_id=job_id, error=f"{error.code}: {error}")
            return
        finally:
            loop.run(writer.aclose())
    if goes_on:
        writing_end(job_id=job_id)


def _key(base_url: str) -> str:
    return provider_key_of(base_url) or api_key_for(base_url)


def _refine_all(job_id: UUID, plan: RefinementPlan, refiner: Refiner, loop: asyncio.Runner) -> bool:
    """Whether it got to its end. Raises PolicyUnavailable and PolicyRejected."""
    refined = dict(plan.refined)
    names = typed_names(plan.trajectory.steps)
    for place, text in plan.texts.items():
        if place not in refined:
            action = describe_step_action(plan.trajectory.steps[plan.steps[place]])
            made = loop.run(refiner.refine(text, plan.trajectory.task.instruction, action, names))
            sentences = tuple(RefinedText(text=one.text, support=one.support) for one in made.sentences)
            refined[place] = RefinedThought(thought=place, original=text, sentences=sentences, problem=made.problem)
        done = sum(one in refined for one in plan.texts)
        if not refinement_store(job_id=job_id, refined=tuple(refined[one] for one in sorted(refined)), done=done):
            return False
    return True


def _write_all(job_id: UUID, plan: VariantPlan, writer: VariantWriter, loop: asyncio.Runner) -> bool:
    """Whether it got to its end. Raises PolicyUnavailable and PolicyRejected."""
    trajectory = plan.trajectory
    names, elements = typed_names(trajectory.steps), step_elements(trajectory)
    for done, thought in enumerate(plan.thoughts, start=1):
        if thought not in plan.known:
            element = elements.get(thought.step)
            pointed = describe_element(element) if element else ""
            evidence = describe_step(trajectory.task.instruction, trajectory.steps, thought.step, pointed)
            made = loop.run(writer.write(plan.kind, thought.text, evidence, names))
            texts = [
                tuple(RefinedText(text=one.text, support=one.support) for one in sentences)
                for sentences in made.variants
            ]
            after = plan.written.get(thought, 0)
            if not variants_store(job_id=job_id, thought=thought, texts=texts, problem=made.problem, after=after):
                return False
        if not job_progress_set(job_id=job_id, done=done):
            return False
    return True
