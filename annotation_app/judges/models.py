"""Judges, the pools in which they judge, their runs, and their verdicts."""

import uuid
from typing import get_args

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone
from pydantic import ValidationError as Unsettled

import protocol.evaluation.judgements
from annotation_app.episodes.models import Episode
from annotation_app.fields import DocumentField
from annotation_app.tasks.models import Pool
from protocol.evaluation.calibration import DEFAULT_THRESHOLD
from protocol.evaluation.judgements import VERIFIER, JudgeKind, JudgeSettings

SHARE = (MinValueValidator(0), MaxValueValidator(1))


class Judge(models.Model):
    """One revision of a judge, never changed: another model, prompt or setting is another revision."""

    kind = models.CharField(max_length=16, help_text="As `protocol.evaluation.judgements.JudgeKind` names it")
    name = models.CharField(max_length=64)
    revision = models.CharField(max_length=64)
    base_url = models.URLField(
        max_length=500, blank=True, help_text="Root of the OpenAI-compatible API, ending in /v1; a verifier has none"
    )
    model = models.CharField(max_length=200, blank=True, help_text="Name the server knows the model by")
    settings = models.JSONField(
        default=dict, blank=True, help_text="votes, combine (mean, majority, unanimous), temperature, max_tokens, …"
    )
    scripted = models.BooleanField(default=False, help_text="No model: answers from a script, and is labelled so")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-id",)
        constraints = [models.UniqueConstraint(fields=("name", "revision"), name="judge_once")]

    def __str__(self) -> str:
        return f"{self.name} {self.revision}"

    def clean(self) -> None:
        """Raises ValidationError for a judge that could not be asked."""
        try:
            JudgeSettings.model_validate(self.settings)
        except Unsettled as error:
            raise ValidationError({"settings": error.errors()[0]["msg"]}) from None
        if self.kind not in get_args(JudgeKind):
            raise ValidationError({"kind": f"One of {', '.join(get_args(JudgeKind))}."})
        if self.kind != VERIFIER.kind and not (self.base_url and self.model):
            raise ValidationError("A model that judges needs an address and a name.")


class PoolJudge(models.Model):
    """That a judge judges in a pool, and from which score on it is believed there."""

    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="judges")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="pools")
    threshold = models.FloatField(default=DEFAULT_THRESHOLD, validators=SHARE)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("pool__name", "-judge_id")
        constraints = [models.UniqueConstraint(fields=("pool", "judge"), name="pool_judge_once")]

    def __str__(self) -> str:
        return f"{self.judge} in {self.pool}"


class RunState(models.TextChoices):
    """Where a run stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


UNDER_WAY = (RunState.QUEUED, RunState.RUNNING)


class Run(models.Model):
    """One judge going through the finished episodes of one pool that it has not judged yet."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="+")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="runs")
    status = models.CharField(max_length=9, choices=RunState.choices, default=RunState.QUEUED)
    total = models.PositiveIntegerField(default=0, help_text="Episodes there were to judge")
    judged = models.PositiveIntegerField(default=0)
    refused = models.PositiveIntegerField(default=0, help_text="Episodes the model's server would not have")
    error = models.TextField(blank=True)
    attempts = models.PositiveSmallIntegerField(default=0, help_text="How often a worker began it")
    heard_at = models.DateTimeField(default=timezone.now, help_text="When it was queued, or its worker got further")
    labelled_only = models.BooleanField(
        default=False, help_text="Only episodes that annotators called done or not done"
    )
    most = models.PositiveIntegerField(null=True, help_text="Episodes it judges at most; null: all")
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-created_at",)
        constraints = [
            models.UniqueConstraint(
                fields=("pool", "judge"), condition=Q(status__in=("queued", "running")), name="judge_run_at_a_time"
            )
        ]

    def __str__(self) -> str:
        return str(self.id)


class Judgement(models.Model):
    """What a judge said of an episode, once; `score` is None where it could not say."""

    episode = models.ForeignKey(Episode, on_delete=models.PROTECT, related_name="judgements")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="judgements")
    score = models.FloatField(null=True, validators=SHARE)
    document: DocumentField[protocol.evaluation.judgements.Judgement] = DocumentField(
        protocol.evaluation.judgements.Judgement
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=("episode", "judge"), name="judgement_once")]

    def __str__(self) -> str:
        return f"{self.judge} on {self.episode_id}"
