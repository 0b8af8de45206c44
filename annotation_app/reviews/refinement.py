"""Refining the thoughts of one recorded session, one after the other, by a worker."""

import asyncio
from uuid import UUID

from agent_backend.errors import AgentError
from agent_backend.refinement.refiner import Refiner, describe_step_action, typed_names
from annotation_app.policies.api_keys import api_key_for
from annotation_app.policies.selectors import provider_key_of
from annotation_app.reviews.selectors.refinement import RefinementPlan, refinement_plan
from annotation_app.reviews.services import job_begin, job_fail, job_heartbeat, refinement_end, refinement_store
from protocol.trajectory.speech import RefinedText, RefinedThought


def refinement_run(*, job_id: UUID) -> None:
    """Refine until it is done or cancelled; what is known is not asked for again. A job that is not queued is left as
    it is."""
    plan = refinement_plan(job_id)
    if not job_begin(job_id=job_id, total=len(plan.texts)):
        return
    key = provider_key_of(plan.base_url) or api_key_for(plan.base_url)
    refiner = Refiner(plan.base_url, plan.model, api_key=key)
    with job_heartbeat(job_id=job_id), asyncio.Runner() as loop:
        try:
            goes_on = _refine_all(job_id, plan, refiner, loop)
        except AgentError as error:
            job_fail(job_id=job_id, error=f"{error.code}: {error}")
            return
        finally:
            loop.run(refiner.aclose())
    if goes_on:
        refinement_end(job_id=job_id)


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
