"""Looking through a pool for attempts that are nearly the same."""

from collections.abc import Callable
from uuid import UUID

from annotation_app.blobs.selectors import blob_read
from annotation_app.episodes.selectors.trajectories import episode_trajectory
from annotation_app.reviews.selectors.jobs import episodes_to_compare
from annotation_app.reviews.services import DuplicateMatch, duplicates_end, job_begin, job_heartbeat, job_progress_set
from annotation_app.reviews.similarity import (
    SCREEN_DUPLICATE_SHARE,
    TEXT_DUPLICATE_SHARE,
    candidates,
    fingerprint,
    frame_shingles,
    jaccard,
    screen_similarity,
    shingles,
)
from protocol.trajectory.trajectories import Trajectory, without_undone_steps


def duplicates_run(*, job_id: UUID, pool_id: int) -> None:
    """Search a pool until it is done or cancelled; a job that is not queued is left as it is."""
    episodes = episodes_to_compare(pool_id=pool_id)
    if not job_begin(job_id=job_id, total=len(episodes)):
        return
    with job_heartbeat(job_id=job_id):
        found = find_duplicates(episodes, should_continue=lambda done: job_progress_set(job_id=job_id, done=done))
    if found is not None:
        duplicates_end(job_id=job_id, found=found)


def find_duplicates(
    episodes: tuple[UUID, ...], *, should_continue: Callable[[int], bool]
) -> tuple[DuplicateMatch, ...] | None:
    """Those of some attempts that are nearly the same, each with the earlier one in this order; None where `further`,
    asked before each, said no. Attempts are read one by one; what is kept of each is a set of numbers."""
    texts: list[frozenset[int]] = []
    frames: list[tuple[int, ...]] = []
    for done, episode in enumerate(episodes):
        if not should_continue(done):
            return None
        attempt = without_undone_steps(episode_trajectory(episode_id=episode))
        texts.append(shingles(attempt))
        frames.append(_frames(attempt))
    pairs = {*candidates(texts), *candidates(list(map(frame_shingles, frames)))}
    found = (_compare(episodes, texts, frames, *pair) for pair in sorted(pairs))
    return tuple(pair for pair in found if pair is not None)


def _compare(
    episodes: tuple[UUID, ...], texts: list[frozenset[int]], frames: list[tuple[int, ...]], one: int, other: int
) -> DuplicateMatch | None:
    """A pair that says nearly the same, or shows nearly the same and says much of it."""
    text, screens = jaccard(texts[one], texts[other]), screen_similarity(frames[one], frames[other])
    same = text >= TEXT_DUPLICATE_SHARE or (
        screens is not None and screens >= SCREEN_DUPLICATE_SHARE and text >= TEXT_DUPLICATE_SHARE / 2
    )
    return DuplicateMatch(one=episodes[one], other=episodes[other], text=text, screens=screens) if same else None


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
