"""Jobs of reviewing, and what they need to know."""

from uuid import UUID

from django.db.models import F

from annotation_app.accounts.models import User
from annotation_app.episodes.models import Episode, Review
from annotation_app.episodes.selectors import episode_summaries
from annotation_app.episodes.selectors.trajectories import trajectory_of
from annotation_app.errors import NotFound
from annotation_app.reviews.models import Duplicate, Job
from annotation_app.reviews.schemas import DuplicatePair, Duplicates, JobOut
from annotation_app.reviews.selectors.details import job_out
from annotation_app.reviews.selectors.queue import review_reader_check
from annotation_app.reviews.selectors.reviewed_trajectories import reviews_of, with_reviews
from protocol.trajectory.steps import apply_review_fix
from protocol.trajectory.trajectories import Trajectory, without_undone_steps

DUPLICATES_SHOWN = 100


def job_of(*, user: User, job_id: UUID) -> JobOut:
    """The state of a job. Raises Forbidden and NotFound."""
    review_reader_check(user)
    job = Job.objects.filter(pk=job_id).first()
    if job is None:
        raise NotFound("There is no such job.", field="job_id")
    return job_out(job)


def duplicates(*, user: User, pool_id: int) -> Duplicates:
    """What the last look through a pool found, the most alike first. Raises Forbidden."""
    review_reader_check(user)
    job = Job.objects.filter(pool_id=pool_id).first()
    rows = Duplicate.objects.filter(pool_id=pool_id).annotate(task=F("one__task"), beside=F("other__task"))[
        :DUPLICATES_SHOWN
    ]
    ids = list(dict.fromkeys(key for row in rows for key in (row.one_id, row.other_id)))
    found = {summary.id: summary for summary in episode_summaries(ids=ids)}
    return Duplicates(
        job=None if job is None else job_out(job),
        pairs=tuple(
            DuplicatePair(
                one=found[row.one_id],
                other=found[row.other_id],
                same_task=row.task == row.beside,
                text=row.text,
                screens=row.screens,
            )
            for row in rows
        ),
    )


def episodes_to_compare(*, pool_id: int) -> tuple[UUID, ...]:
    """The finished episodes of a pool that were neither sent back nor rejected, oldest first."""
    found = Episode.objects.filter(task__pool_id=pool_id, status="finished")
    found = found.exclude(review__in=(Review.RETURNED, Review.REJECTED))
    return tuple(found.order_by("finished_at", "id").values_list("pk", flat=True))


def corrected_trajectory(*, episode_id: UUID) -> Trajectory:
    """An attempt as it is to be repeated: what counts of it, mended; whole, for a part begins where another ended."""
    episode = Episode.objects.select_related("task__pool", "annotator").get(pk=episode_id)
    reviewed = reviews_of([episode_id]).get(episode_id)
    whole = trajectory_of(episode)
    whole = with_reviews(whole, reviewed) if reviewed else whole
    return without_undone_steps(whole.model_copy(update={"steps": tuple(map(apply_review_fix, whole.steps))}))


def image_of(*, episode_id: UUID) -> tuple[str, str]:
    """The image of an episode's machine, and its pool's name."""
    pool = Episode.objects.select_related("task__pool").get(pk=episode_id).task.pool
    return pool.image, pool.name
