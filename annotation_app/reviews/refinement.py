"""Refining the thoughts of one recorded session, one after the other, by a worker."""

import asyncio
from uuid import UUID

from agent_backend.errors import AgentError
from agent_backend.refinement.refiner import Refiner, describe_step_action, typed_names
from annotation_app.accounts.models import User
from annotation_app.episodes.models import Episode
from annotation_app.policies.api_keys import api_key_for
from annotation_app.policies.selectors import provider_key_of
from annotation_app.reviews.models import Job
from annotation_app.reviews.selectors.speech import recorded_session, thoughts_of
from annotation_app.reviews.services import job_begin, job_fail, job_heartbeat, refinement_end, refinement_store
from protocol.trajectory.speech import RefinedText, RefinedThought, Thoughts, thought_text
from protocol.trajectory.trajectories import Trajectory


def refinement_run(*, job_id: UUID) -> None:
    """Refine until it is done or cancelled; what is known is not asked for again. A job that is not queued is left as
    it is."""
    job = Job.objects.select_related("policy", "requested_by", "episode__task__pool").get(pk=job_id)
    assert job.episode is not None
    assert job.policy is not None
    trajectory, speech = recorded_session(job.episode_id)  # type: ignore[arg-type]
    thoughts = _thoughts(job.episode, job.requested_by)
    wanted = [place for place, one in enumerate(thoughts) if one.steps]
    if not job_begin(job_id=job_id, total=len(wanted)):
        return
    known = {
        one.thought: one
        for one in job.refined or ()
        if one.thought < len(thoughts) and thought_text(speech.words, thoughts[one.thought]) == one.said
    }
    url = job.policy.base_url
    refiner = Refiner(url, job.policy.model, api_key=provider_key_of(url) or api_key_for(url))
    names = typed_names(trajectory.steps)
    with job_heartbeat(job_id=job_id), asyncio.Runner() as loop:
        try:
            for place in wanted:
                if place not in known:
                    said = thought_text(speech.words, thoughts[place])
                    action = _action(trajectory, thoughts, place)
                    made = loop.run(refiner.refine(said, trajectory.task.instruction, action, names))
                    sentences = tuple(RefinedText(text=one.text, support=one.support) for one in made.sentences)
                    known[place] = RefinedThought(thought=place, said=said, sentences=sentences, problem=made.problem)
                refined = tuple(known[one] for one in sorted(known))
                done = sum(one in known for one in wanted)
                if not refinement_store(job_id=job_id, refined=refined, done=done):
                    return
        except AgentError as error:
            job_fail(job_id=job_id, error=f"{error.code}: {error}")
            return
        finally:
            loop.run(refiner.aclose())
    refinement_end(job_id=job_id)


def _thoughts(episode: Episode, user: User) -> Thoughts:
    found = thoughts_of(episode, user)
    return () if found is None else found[1]


def _action(trajectory: Trajectory, thoughts: Thoughts, place: int) -> str:
    """The act that a thought is about, for the model."""
    step = min(thoughts[place].steps[0], len(trajectory.steps) - 1)
    return describe_step_action(trajectory.steps[step])
