"""Permission checks for writes to a review, on the locked row, before anything is changed."""

from datetime import timedelta
from uuid import UUID

from django.utils import timezone

from annotation_app.accounts.models import Role, User
from annotation_app.episodes.models import OPEN_STATUSES, Episode, Review
from annotation_app.episodes.selectors import episode_of
from annotation_app.episodes.services.events import episode_lock
from annotation_app.errors import Conflict, Forbidden, NotFound
from annotation_app.reviews.models import Claim
from annotation_app.reviews.selectors.opinions import open_opinions

CLAIM_DURATION = timedelta(minutes=20)
"""How long a claim lasts without a write by its reviewer."""


def reviewer_check(user: User) -> None:
    """Raises Forbidden for a person who is not a reviewer."""
    if not user.has_role(Role.REVIEWER, Role.ADMIN):
        raise Forbidden("Only reviewers decide this.")


def reviewable_episode(*, user: User, episode_id: UUID) -> Episode:
    """The locked row of an episode that this person may review. Raises NotFound, Forbidden and Conflict."""
    episode_of(user=user, episode_id=episode_id)
    reviewer_check(user)
    episode = episode_lock(episode_id)
    if episode.annotator_id == user.pk:
        raise Forbidden("You cannot review your own work.", code="own_work")
    if episode.supervisor_notes.filter(author=user, took_control=True).exists():
        raise Forbidden("You took control of this episode.", code="own_work")
    if episode.task.pool.practice:
        raise Conflict("Practice is not reviewed.", code="practice")
    if episode.status in OPEN_STATUSES:
        raise Conflict("The episode is still running.", code="episode_running")
    if episode.status != "finished":
        raise Conflict("Only finished episodes are reviewed.", code="not_finished")
    if open_opinions(episode).filter(reviewer=user).exists():
        raise Conflict("You have decided this; another reviewer decides too.", code="opinion_given")
    return episode


def claimed_episode(*, user: User, episode_id: UUID) -> Episode:
    """The same, now claimed by this person for some time more. Raises Conflict where another reviewer has it."""
    episode = reviewable_episode(user=user, episode_id=episode_id)
    claim_make(user=user, episode=episode)
    return episode


def claim_make(*, user: User, episode: Episode) -> Claim:
    """Claim a locked episode, or keep a claim on it. Raises Conflict."""
    now = timezone.now()
    found = Claim.objects.select_related("reviewer").filter(episode=episode).first()
    if found is not None and found.reviewer_id != user.pk and found.until > now:
        raise Conflict(
            f"{found.reviewer.name} is reviewing this episode.",
            code="claimed_by_other",
            extra={"reviewer": found.reviewer.username, "until": found.until.isoformat()},
        )
    claim, _made = Claim.objects.update_or_create(
        episode=episode, defaults={"reviewer": user, "until": now + CLAIM_DURATION}
    )
    return claim


def correctable_episode(*, user: User, episode_id: UUID) -> Episode:
    """The locked row of an episode whose steps this person may correct: as a reviewer, or their own returned one.
    Raises NotFound, Forbidden and Conflict."""
    episode = episode_of(user=user, episode_id=episode_id)
    if episode.annotator_id != user.pk:
        return claimed_episode(user=user, episode_id=episode_id)
    episode = episode_lock(episode_id)
    if episode.review != Review.RETURNED:
        raise Conflict("Only what was sent back is mended.", code="not_returned")
    return episode


def step_check(episode: Episode, index: int) -> None:
    """Raises NotFound where the episode has no such step."""
    if not episode.steps.filter(index=index).exists():
        raise NotFound("There is no such step.")


def current_round(episode: Episode) -> int:
    """The round an episode is in, from 1."""
    return episode.rounds.count() + 1
