"""Manual registration of weights that a cycle trained, without gate trials and without promotion."""

from annotation_app.accounts.models import User
from annotation_app.errors import Conflict, NotFound
from annotation_app.flywheel.models import Checkpoint
from annotation_app.flywheel.paths import checkpoint_path
from annotation_app.flywheel.schemas import CheckpointRegistration
from annotation_app.flywheel.selectors.turns import own_active
from annotation_app.policies.models import PolicyRevision
from annotation_app.policies.schemas import RevisionIn
from annotation_app.policies.selectors import policies_admin_check
from annotation_app.policies.services import revision_add


def checkpoint_register(
    *, user: User, checkpoint_id: int, registration: CheckpointRegistration
) -> tuple[PolicyRevision, bool]:
    """Register a checkpoint as a revision that proposes nowhere. Its dialect, sampling, memory and prompt are those of
    the active revision when its cycle began. Returns the revision, and whether it is new.

    Raises:
        Forbidden: The person is not an admin.
        NotFound: There is no such checkpoint.
        Conflict: It is already registered (`checkpoint_registered`), or another revision has this name
            (`revision_exists`).
    """
    policies_admin_check(user)
    checkpoint = (
        Checkpoint.objects.select_related("turn__wheel", "turn__active", "revision").filter(pk=checkpoint_id).first()
    )
    if checkpoint is None:
        raise NotFound("There is no such checkpoint.", field="checkpoint_id")
    if checkpoint.revision is not None:
        raise Conflict(f"It is registered as {checkpoint.revision}.", code="checkpoint_registered")
    active, recipe = own_active(checkpoint.turn), checkpoint.turn.recipe
    revision, new = revision_add(
        user=user,
        revision=RevisionIn(
            name=recipe.policy,
            revision=registration.revision,
            dialect=recipe.dialect,
            base_url=registration.base_url,
            model=registration.model,
            checkpoint=checkpoint_path(checkpoint.path),
            weight_version=registration.revision,
            sampling=active.sampling if active else {},
            memory=active.memory if active else {},
            prompt=active.prompt if active else None,
        ),
    )
    Checkpoint.objects.filter(pk=checkpoint.pk, revision=None).update(revision=revision)
    return revision, new
