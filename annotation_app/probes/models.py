"""Probes of models and their results."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

import protocol.evaluation.probes
from annotation_app.fields import DocumentField
from protocol.dialects.prompt_template import PromptTemplate


class ProbeState(models.TextChoices):
    """The state of a probe."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


UNDER_WAY = (ProbeState.QUEUED, ProbeState.RUNNING)


class PolicyProbe(models.Model):
    """One probe of a model at an address. It needs no registered revision, because models are probed before they are
    registered."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    base_url = models.URLField(max_length=500)
    model = models.CharField(max_length=200)
    dialect = models.CharField(max_length=64)
    provider = models.CharField(max_length=20, default="openai_compatible")
    provider_settings = models.JSONField(default=dict, blank=True)
    prompt: DocumentField[PromptTemplate | None] = DocumentField(PromptTemplate, null=True, blank=True)
    sealed_key = models.TextField(
        blank=True, editable=False, help_text="The API key it was given, encrypted; empty once it has ended"
    )
    screens = models.CharField(
        max_length=16, default="desktop", help_text="Which bundled screens are shown: desktop or small"
    )
    reason = models.CharField(max_length=16, default="requested", help_text="requested, scheduled or server_changed")
    status = models.CharField(max_length=9, choices=ProbeState.choices, default=ProbeState.QUEUED)
    answered = models.PositiveSmallIntegerField(default=0)
    questions = models.PositiveSmallIntegerField(default=0)
    report: DocumentField[protocol.evaluation.probes.ProbeReport | None] = DocumentField(
        protocol.evaluation.probes.ProbeReport, null=True
    )
    error = models.TextField(blank=True)
    attempts = models.PositiveSmallIntegerField(default=0, help_text="How often a worker began it")
    heard_at = models.DateTimeField(default=timezone.now, help_text="When it was queued, or its worker got further")
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-created_at",)
        indexes = [models.Index(fields=("base_url", "model", "dialect", "-created_at"), name="probe_newest")]
        constraints = [
            models.UniqueConstraint(
                fields=("base_url", "model", "dialect"),
                condition=Q(status__in=("queued", "running")),
                name="probe_at_a_time",
            )
        ]

    def __str__(self) -> str:
        return f"{self.model} at {self.base_url} {self.id}"
