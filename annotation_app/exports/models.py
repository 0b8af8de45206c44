"""Export jobs."""

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone

from annotation_app.tasks.models import Pool


class ExportState(models.TextChoices):
    """Where a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class Export(models.Model):
    """One folder of trajectories, being written or written."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    pool = models.ForeignKey(Pool, null=True, on_delete=models.PROTECT, related_name="exports")
    filters = models.JSONField(default=dict)
    status = models.CharField(max_length=8, choices=ExportState.choices, default=ExportState.QUEUED)
    progress = models.FloatField(default=0, help_text="0 to 1")
    trajectories = models.PositiveIntegerField(default=0)
    bytes = models.BigIntegerField(default=0)
    error = models.TextField(blank=True)
    attempts = models.PositiveSmallIntegerField(default=0, help_text="How often a worker began to write it")
    heard_at = models.DateTimeField(default=timezone.now, help_text="When it was queued, or its worker got further")
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="exports")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-created_at",)

    def __str__(self) -> str:
        return str(self.id)
