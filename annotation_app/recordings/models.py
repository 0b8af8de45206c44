"""The table of recordings."""

from django.db import models

from annotation_app.episodes.models import Episode
from annotation_app.fields import DocumentField
from annotation_app.recordings.schemas import StoredPart


class RecordingState(models.TextChoices):
    """Where a recording's bytes are."""

    AT_BRIDGE = "at_bridge"
    STORED = "stored"
    LOST = "lost"
    DELETED = "deleted"


class Recording(models.Model):
    """What one bridge recorded of an episode. An episode has several if its machine or its bridge changed."""

    episode = models.ForeignKey(Episode, on_delete=models.PROTECT, related_name="recordings")
    key = models.CharField(max_length=64, unique=True, help_text="Its id at the bridge")
    host_url = models.CharField(max_length=400, help_text="The bridge that holds it")
    state = models.CharField(max_length=9, choices=RecordingState.choices, default=RecordingState.AT_BRIDGE)
    parts: DocumentField[tuple[StoredPart, ...]] = DocumentField(tuple[StoredPart, ...], default=())
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("created_at", "id")
        indexes = [models.Index(fields=("state",), name="recording_state")]

    def __str__(self) -> str:
        return self.key
