"""Import jobs, and what they refused."""

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone

from annotation_app.tasks.models import Pool


class ImportState(models.TextChoices):
    """Where a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Import(models.Model):
    """One file or folder, being taken in or taken in. `file` and `offset` are the place up to which it was read: they
    change together with what came in, so a worker that was killed is taken up there."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=200, help_text="The file's or folder's name")
    folder = models.CharField(max_length=4096, blank=True, help_text="Where it lies; empty: what was uploaded")
    format = models.CharField(max_length=16, blank=True, help_text="What its rows have to be; empty: what they are")
    pool_name = models.CharField(max_length=100)
    pool = models.ForeignKey(Pool, null=True, on_delete=models.PROTECT, related_name="imports")
    status = models.CharField(max_length=9, choices=ImportState.choices, default=ImportState.QUEUED)
    progress = models.FloatField(default=0, help_text="0 to 1")
    file = models.CharField(max_length=4096, blank=True)
    offset = models.PositiveBigIntegerField(default=0)
    line = models.PositiveBigIntegerField(default=0)
    imported = models.PositiveIntegerField(default=0, help_text="Trajectories that came in")
    steps = models.PositiveBigIntegerField(default=0)
    known = models.PositiveIntegerField(default=0, help_text="Trajectories that were here already")
    refused = models.PositiveIntegerField(default=0)
    code = models.CharField(max_length=40, blank=True)
    error = models.TextField(blank=True)
    attempts = models.PositiveSmallIntegerField(default=0, help_text="How often a worker began it")
    heard_at = models.DateTimeField(default=timezone.now, help_text="When it was queued, or its worker got further")
    sha256 = models.CharField(max_length=64, blank=True, help_text="What the upload must have; empty: not said")
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="imports"
    )
    session = models.UUIDField(
        null=True,
        help_text="The recorded session that it brings, of who requested it; no other row comes in",
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-created_at",)

    def __str__(self) -> str:
        return f"{self.name} {self.id}"


class Upload(models.Model):
    """A file to import that arrives in parts. Once it is complete, an import of the same id takes its place.

    `received` counts the bytes that are safely on the disk: it is raised after they were written.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="uploads")
    name = models.CharField(max_length=200)
    size = models.PositiveBigIntegerField(help_text="Bytes of the whole file")
    received = models.PositiveBigIntegerField(default=0)
    sha256 = models.CharField(max_length=64, blank=True, help_text="Of the whole file; empty: not said")
    fingerprint = models.CharField(max_length=200, blank=True, help_text="How the client recognizes the file")
    pool_name = models.CharField(max_length=100, blank=True)
    pool = models.ForeignKey(Pool, null=True, on_delete=models.CASCADE, related_name="+")
    session = models.UUIDField(null=True, help_text="The recorded session that it holds; null: another file")
    format = models.CharField(max_length=16, blank=True)
    expires_at = models.DateTimeField(db_index=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("-created_at",)

    def __str__(self) -> str:
        return f"{self.name} {self.id}"


class Refusal(models.Model):
    """A row that did not come in, and why."""

    of = models.ForeignKey(Import, on_delete=models.CASCADE, related_name="refusals")
    file = models.CharField(max_length=4096)
    line = models.PositiveBigIntegerField()
    code = models.CharField(max_length=40)
    message = models.TextField()

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.code}"
