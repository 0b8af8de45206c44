"""HTTP routes of recordings. Their bytes are blobs of the episode."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Router

from annotation_app.accounts.selectors import user_of
from annotation_app.episodes.selectors import episode_of
from annotation_app.episodes.selectors.trajectories import episode_trajectory
from annotation_app.errors import NotFound
from annotation_app.recordings import selectors
from annotation_app.recordings.schemas import RecordingOut
from annotation_app.recordings.webvtt import render_webvtt

router = Router(tags=["episodes"])


@router.get("/episodes/{uuid:episode_id}/recording", response=RecordingOut)
def recording_get(request: HttpRequest, episode_id: UUID) -> RecordingOut:
    """The video of an episode in parts, with the position of each step."""
    episode_of(user=user_of(request), episode_id=episode_id)
    return selectors.recording_of(episode_id=episode_id)


@router.get("/episodes/{uuid:episode_id}/recording/{int:number}.vtt", response={200: None})
def recording_track(request: HttpRequest, episode_id: UUID, number: int) -> HttpResponse:
    """The steps of a part as a WebVTT track."""
    episode_of(user=user_of(request), episode_id=episode_id)
    parts = selectors.recording_of(episode_id=episode_id).parts
    if number >= len(parts):
        raise NotFound("This episode's recording has no such part.")
    steps = episode_trajectory(episode_id=episode_id).steps
    titles = {step.index: f"{step.action.kind} {step.thought}" for step in steps}
    return HttpResponse(render_webvtt(parts[number].steps, titles), content_type="text/vtt; charset=utf-8")
