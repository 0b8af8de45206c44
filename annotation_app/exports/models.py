"""Export jobs."""

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone

from annotation_app.policies.models import PolicyRevision
from annotation_app.tasks.models import Pool


class ExportState(models.TextChoices):
    """The state of a job."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Export(models.Model):
    """One folder of trajectories, being written or written."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    pool = models.ForeignKey(Pool, null=True, on_delete=models.PROTECT, related_name="exports")
    filters = models.JSONField(default=dict)
    plan = models.JSONField(default=dict, help_text="Format, dialect, how it is divided")
    status = models.CharField(max_length=9, choices=ExportState.choices, default=ExportState.QUEUED)
    progress = models.FloatField(default=0, help_text="0 to 1")
    trajectories = models.PositiveIntegerField(default=0)
    records = models.PositiveBigIntegerField(default=0, help_text="Rows, samples or folders")
    bytes = models.BigIntegerField(default=0)
    missing = models.JSONField(default=list, help_text="The first pictures that are lost")
    refused = models.PositiveIntegerField(default=0, help_text="Rows that were left out")
    refused_codes = models.JSONField(default=dict, help_text="How many of them by the reason's code")
    variants = models.JSONField(default=dict, help_text="How many of the trajectories are variants, by their kind")
    manifest_sha256 = models.CharField(max_length=64, blank=True)
    destination = models.CharField(max_length=300, blank=True, help_text="s3://bucket/prefix it is pushed to")
    pushed = models.BooleanField(default=False)
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


class Version(models.Model):
    """A finished export that is kept and can be cited: `name` and a number that rises."""

    name = models.CharField(max_length=64)
    number = models.PositiveIntegerField()
    export = models.OneToOneField(Export, on_delete=models.PROTECT, related_name="version")
    notes = models.TextField(blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("name", "-number")
        constraints = [models.UniqueConstraint(fields=("name", "number"), name="version_once")]

    def __str__(self) -> str:
        return f"{self.name}@{self.number}"


class VersionMember(models.Model):
    """A trajectory of a version, by which it is known what was withdrawn since."""

    version = models.ForeignKey(Version, on_delete=models.CASCADE, related_name="members")
    episode = models.UUIDField()
    split = models.CharField(max_length=10)

    class Meta:
        constraints = [models.UniqueConstraint(fields=("version", "episode"), name="member_once")]
        indexes = [models.Index(fields=("episode",), name="member_episode")]

    def __str__(self) -> str:
        return str(self.episode)


class Lineage(models.Model):
    """That a revision was trained from a version."""

    version = models.ForeignKey(Version, on_delete=models.PROTECT, related_name="lineages")
    revision = models.ForeignKey(PolicyRevision, on_delete=models.PROTECT, related_name="lineages")

    class Meta:
        constraints = [models.UniqueConstraint(fields=("version", "revision"), name="lineage_once")]

    def __str__(self) -> str:
        return f"{self.revision} from {self.version}"
