"""Looking through a pool for attempts that are nearly the same."""

from collections.abc import Callable
from uuid import UUID

from annotation_app.blobs.selectors import blob_read
from annotation_app.episodes.selectors import episode_trajectory
from annotation_app.reviews.likeness import (
    SCREENS_NEAR,
    TEXT_NEAR,
    candidates,
    fingerprint,
    frames_said,
    jaccard,
    screens_alike,
    shingles,
)
from annotation_app.reviews.selectors.jobs import episodes_compared
from annotation_app.reviews.services import Found, duplicates_end, job_begin, job_further, job_heartbeat
from vocabulary.trajectories import Trajectory, trajectory_standing


def duplicates_do(*, job_id: UUID, pool_id: int) -> None:
    """Search a pool until it is done or cancelled; a job that is not queued is left as it is."""
    episodes = episodes_compared(pool_id=pool_id)
    if not job_begin(job_id=job_id, total=len(episodes)):
        return
    with job_heartbeat(job_id=job_id):
        found = pairs_found(episodes, further=lambda done: job_further(job_id=job_id, done=done))
    if found is not None:
        duplicates_end(job_id=job_id, found=found)


def pairs_found(episodes: tuple[UUID, ...], *, further: Callable[[int], bool]) -> tuple[Found, ...] | None:
    """Those of some attempts that are nearly the same, each with the earlier one in this order; None where `further`,
    asked before each, said no. Attempts are read one by one; what is kept of each is a set of numbers."""
    said: list[frozenset[int]] = []
    shown: list[tuple[int, ...]] = []
    for done, episode in enumerate(episodes):
        if not further(done):
            return None
        attempt = trajectory_standing(episode_trajectory(episode_id=episode))
        said.append(shingles(attempt))
        shown.append(_frames(attempt))
    pairs = {*candidates(said), *candidates(list(map(frames_said, shown)))}
    found = (_compare(episodes, said, shown, *pair) for pair in sorted(pairs))
    return tuple(pair for pair in found if pair is not None)


def _compare(
    episodes: tuple[UUID, ...], said: list[frozenset[int]], shown: list[tuple[int, ...]], one: int, other: int
) -> Found | None:
    """A pair that says nearly the same, or shows nearly the same and says much of it."""
    text, screens = jaccard(said[one], said[other]), screens_alike(shown[one], shown[other])
    same = text >= TEXT_NEAR or (screens is not None and screens >= SCREENS_NEAR and text >= TEXT_NEAR / 2)
    return Found(one=episodes[one], other=episodes[other], text=text, screens=screens) if same else None


def _frames(attempt: Trajectory) -> tuple[int, ...]:
    """The fingerprint of what each step acted on; a picture that is lost is left out."""
    found: list[int] = []
    for step in attempt.steps:
        if step.before.screenshot is not None:
            try:
                seen = fingerprint(blob_read(step.before.screenshot.sha256))
            except FileNotFoundError:
                continue
            if seen is not None:
                found.append(seen)
    return tuple(found)
