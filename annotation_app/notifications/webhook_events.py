"""What webhooks are sent: one model for each kind of event. Its fields are the message's `data`."""

from typing import Literal, get_args

from protocol.base import FrozenModel


class EpisodeFinished(FrozenModel):
    """An annotator ended an episode. Practice sends none."""

    kind: Literal["episode.finished"] = "episode.finished"
    id: str
    """The episode."""
    pool: str
    """Name of its pool."""
    task: str
    """Id of its task's definition."""
    outcome: str
    """What the annotator said: `success`, `failure` or `infeasible`."""


class ReviewDecided(FrozenModel):
    """A reviewer decided on an episode."""

    kind: Literal["review.decided"] = "review.decided"
    episode: str
    decision: str
    """`accepted`, `returned` or `rejected`."""


class ExportEnded(FrozenModel):
    """An export was written, or failed."""

    kind: Literal["export.finished", "export.failed"]
    id: str
    status: str
    trajectories: int
    """How many it holds."""
    manifest_sha256: str
    """SHA-256 of its manifest; empty where it failed."""
    error: str
    """Why it failed; empty otherwise."""


class ImportEnded(FrozenModel):
    """An import came to its end, or failed."""

    kind: Literal["import.finished", "import.failed"]
    id: str
    status: str
    imported: int
    """Trajectories that came in."""
    known: int
    """Trajectories that were there already."""
    refused: int
    """Trajectories that were refused."""
    code: str
    """Why it failed, as a stable code; empty otherwise."""


class PolicyPromoted(FrozenModel):
    """Another revision proposes in a pool."""

    kind: Literal["policy.promoted"] = "policy.promoted"
    pool: str
    """Name of the pool."""
    policy: str
    revision: str
    by: Literal["person", "gate"]
    """Whether an admin chose it or a gate let it through."""


WebhookEvent = EpisodeFinished | ReviewDecided | ExportEnded | ImportEnded | PolicyPromoted
EVENTS: tuple[type[WebhookEvent], ...] = get_args(WebhookEvent)
"""Every kind of event, as its message's model."""


def event_kinds(model: type[WebhookEvent]) -> tuple[str, ...]:
    """The kinds of a model, such as `export.finished` and `export.failed`."""
    return get_args(model.model_fields["kind"].annotation)
