"""The timeline of recorded sessions over HTTP: what was said, and changes of its thoughts."""

from uuid import UUID

from django.http import HttpRequest
from ninja import Router, Status

from annotation_app.accounts.selectors import user_of
from annotation_app.accounts.tokens import TOKEN_OR_SESSION_AUTH
from annotation_app.reviews import jobs, services
from annotation_app.reviews.selectors.refinement import refinement_out
from annotation_app.reviews.selectors.speech import speech_out
from annotation_app.reviews.selectors.variants import variants_out
from annotation_app.reviews.speech_schemas import (
    RedactionIn,
    RefinementAcceptIn,
    RefinementIn,
    RefinementOut,
    SpeechOut,
    ThoughtEditIn,
    VariantDecisionsIn,
    VariantIn,
    VariantsOut,
)

router = Router(tags=["reviews"])


@router.get("/episodes/{uuid:episode_id}/speech", response=SpeechOut, auth=TOKEN_OR_SESSION_AUTH)
def episode_speech(request: HttpRequest, episode_id: UUID) -> SpeechOut:
    """What was said in a recorded session, and the thoughts as reviewers have left them."""
    return speech_out(user=user_of(request), episode_id=episode_id)


@router.post("/episodes/{uuid:episode_id}/review/thoughts", response=SpeechOut)
def review_thoughts(request: HttpRequest, episode_id: UUID, body: ThoughtEditIn) -> SpeechOut:
    """Change a thought of a recorded session, or take the last change back."""
    user = user_of(request)
    services.thoughts_edit(user=user, episode_id=episode_id, edit=body)
    return speech_out(user=user, episode_id=episode_id)


@router.post("/episodes/{uuid:episode_id}/review/redactions", response=SpeechOut)
def review_redaction(request: HttpRequest, episode_id: UUID, body: RedactionIn) -> SpeechOut:
    """Remove words of a recorded session for good."""
    user = user_of(request)
    services.words_redact(user=user, episode_id=episode_id, words=body.words)
    return speech_out(user=user, episode_id=episode_id)


@router.get("/episodes/{uuid:episode_id}/review/refinement", response=RefinementOut)
def review_refinement(request: HttpRequest, episode_id: UUID) -> RefinementOut:
    """How the last refinement of a session's thoughts stands, and what it wrote."""
    return refinement_out(user=user_of(request), episode_id=episode_id)


@router.post("/episodes/{uuid:episode_id}/review/refinement", response={202: RefinementOut})
def review_refinement_start(request: HttpRequest, episode_id: UUID, body: RefinementIn) -> Status[RefinementOut]:
    """Have the thoughts of a session refined by a model; done in the background."""
    user = user_of(request)
    jobs.writing_start(user=user, episode_id=episode_id, kind="refinement", policy_id=body.policy)
    return Status(202, refinement_out(user=user, episode_id=episode_id))


@router.post("/episodes/{uuid:episode_id}/review/refinement/accepted", response=SpeechOut)
def review_refinement_accept(request: HttpRequest, episode_id: UUID, body: RefinementAcceptIn) -> SpeechOut:
    """Take sentences of the last refinement."""
    user = user_of(request)
    services.refinement_accept(user=user, episode_id=episode_id, base=body.base, accepted=body.thoughts)
    return speech_out(user=user, episode_id=episode_id)


@router.get("/episodes/{uuid:episode_id}/review/variants", response=VariantsOut)
def review_variants(request: HttpRequest, episode_id: UUID) -> VariantsOut:
    """The variants of a session's thoughts, and how the last jobs that wrote some stand."""
    return variants_out(user=user_of(request), episode_id=episode_id)


@router.post("/episodes/{uuid:episode_id}/review/variants", response={202: VariantsOut})
def review_variants_start(request: HttpRequest, episode_id: UUID, body: VariantIn) -> Status[VariantsOut]:
    """Have variants of a session's thoughts written by a model; done in the background."""
    user = user_of(request)
    jobs.writing_start(user=user, episode_id=episode_id, kind=body.kind, policy_id=body.policy)
    return Status(202, variants_out(user=user, episode_id=episode_id))


@router.post("/episodes/{uuid:episode_id}/review/variants/decisions", response=VariantsOut)
def review_variants_decide(request: HttpRequest, episode_id: UUID, body: VariantDecisionsIn) -> VariantsOut:
    """Choose variants for exports, reject them, or take that back."""
    user = user_of(request)
    services.variants_decide(user=user, episode_id=episode_id, decisions=body.decisions)
    return variants_out(user=user, episode_id=episode_id)
