"""The graph of what people do, where tasks stand in it, and wordings and task drafts that models write."""

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils import timezone

from annotation_app.design.applications import INDICATORS, ScoringRule
from annotation_app.design.balance import WantedShares
from annotation_app.design.difficulty import Rubric
from annotation_app.design.draft_replies import Cell, LeftOut
from annotation_app.fields import DocumentField
from annotation_app.tasks.models import Pool, Task

MOST_IMPORTANT = 10.0


DEGREE = (MinValueValidator(0), MaxValueValidator(MOST_IMPORTANT))


class Node(models.Model):
    """An application, a function of it, or a part of that; `importance` is among those with the same parent. It is
    typed, or follows from frequency, benefit and transfer where these are there.

    A node gets its parent when it is made and keeps it, so the graph has no cycles."""

    parent = models.ForeignKey("self", null=True, on_delete=models.CASCADE, related_name="children")
    name = models.CharField(max_length=100)
    importance = models.FloatField(default=1, validators=DEGREE)
    frequency = models.FloatField(null=True, validators=DEGREE)
    benefit = models.FloatField(null=True, validators=DEGREE)
    transfer = models.FloatField(null=True, validators=DEGREE)
    measured_by = models.CharField(max_length=500, blank=True, help_text="Where the three measures come from")

    class Meta:
        ordering = ("name",)
        constraints = [
            models.UniqueConstraint(fields=("parent", "name"), name="node_once", nulls_distinct=False),
            models.CheckConstraint(
                condition=models.Q(frequency__isnull=True, benefit__isnull=True, transfer__isnull=True)
                | models.Q(frequency__isnull=False, benefit__isnull=False, transfer__isnull=False),
                name="node_measures_together",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Placement(models.Model):
    """Where a task stands: under which node, how hard by its rubric (`guessed` until somebody looked), and which task
    it is another wording of."""

    task = models.OneToOneField(Task, primary_key=True, on_delete=models.CASCADE, related_name="placement")
    node = models.ForeignKey(Node, null=True, on_delete=models.SET_NULL, related_name="placements")
    rubric: DocumentField[Rubric] = DocumentField(Rubric)
    level = models.PositiveSmallIntegerField()
    guessed = models.BooleanField(default=True)
    variant_of = models.ForeignKey(Task, null=True, on_delete=models.SET_NULL, related_name="variants")

    class Meta:
        indexes = [models.Index(fields=("node", "level"), name="placement_cell")]

    def __str__(self) -> str:
        return f"{self.task} under {self.node}"


class ApplicationState(models.TextChoices):
    """What was decided about an application."""

    CANDIDATE = "candidate"
    CHOSEN = "chosen"
    DROPPED = "dropped"


class Application(models.Model):
    """An application that tasks may be made for. A chosen one is a top node of the graph; `decided_score` is what it
    had then, by version `decided_version` of the scoring rule."""

    name = models.CharField(max_length=100, unique=True)
    state = models.CharField(max_length=9, choices=ApplicationState.choices, default=ApplicationState.CANDIDATE)
    node = models.OneToOneField(Node, null=True, on_delete=models.SET_NULL, related_name="application")
    reason = models.CharField(max_length=500, blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    decided_at = models.DateTimeField(null=True)
    decided_score = models.FloatField(null=True)
    decided_version = models.PositiveIntegerField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class Reading(models.Model):
    """A value of an indicator of an application, from a source and of a day."""

    application = models.ForeignKey(Application, on_delete=models.CASCADE, related_name="readings")
    indicator = models.CharField(max_length=11, choices=[(one, one) for one in INDICATORS])
    value = models.FloatField(validators=[MinValueValidator(0)])
    unit = models.CharField(max_length=40)
    source = models.CharField(max_length=500)
    dated = models.DateField()
    recorded_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ("indicator", "-dated", "source")
        constraints = [
            models.UniqueConstraint(fields=("application", "indicator", "dated", "source"), name="reading_once")
        ]

    def __str__(self) -> str:
        return f"{self.indicator} of {self.application}: {self.value} {self.unit}"


class ScoringVersion(models.Model):
    """A rule by which applications are scored, never changed; the newest version counts. Version 0, the rule's
    defaults, has no row."""

    version = models.PositiveIntegerField(primary_key=True)
    rule: DocumentField[ScoringRule] = DocumentField(ScoringRule)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-version",)

    def __str__(self) -> str:
        return f"version {self.version}"


class DifficultyTarget(models.Model):
    """How the tasks of a pool should be spread over the levels; without a pool, those of all pools without one of
    their own."""

    pool = models.ForeignKey(Pool, null=True, on_delete=models.CASCADE, related_name="+")
    shares: DocumentField[WantedShares] = DocumentField(WantedShares)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=("pool",), name="difficulty_target_once", nulls_distinct=False),
        ]

    def __str__(self) -> str:
        return f"{self.shares.levels} of {self.pool or 'every pool'}"


class Writer(models.Model):
    """A model that words instructions and drafts tasks, never changed: another model or setting is another revision."""

    name = models.CharField(max_length=64)
    revision = models.CharField(max_length=64)
    base_url = models.URLField(max_length=500, help_text="Root of the OpenAI-compatible API, ending in /v1")
    model = models.CharField(max_length=200, help_text="Name the server knows the model by")
    temperature = models.FloatField(default=0.9, validators=[MinValueValidator(0), MaxValueValidator(2)])
    max_tokens = models.PositiveIntegerField(
        default=1_024, validators=[MinValueValidator(16), MaxValueValidator(16_384)]
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-id",)
        constraints = [models.UniqueConstraint(fields=("name", "revision"), name="writer_once")]

    def __str__(self) -> str:
        return f"{self.name} {self.revision}"

    def clean(self) -> None:
        """Raises ValidationError for an address that no model is asked at."""
        if not self.base_url.startswith(("http://", "https://")):
            raise ValidationError({"base_url": "An address begins with http:// or https://."})


class WritingState(models.TextChoices):
    """The state of a request to a model."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


UNDER_WAY = (WritingState.QUEUED, WritingState.RUNNING)


class WriterRequest(models.Model):
    """What a model is asked for in the background."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    count = models.PositiveSmallIntegerField()
    status = models.CharField(max_length=9, choices=WritingState.choices, default=WritingState.QUEUED)
    error = models.TextField(blank=True)
    attempts = models.PositiveSmallIntegerField(default=0, help_text="How often a worker began it")
    heard_at = models.DateTimeField(default=timezone.now)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True
        ordering = ("-created_at",)


class Writing(WriterRequest):
    """A request for other wordings of one task."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="writings")
    writer = models.ForeignKey(Writer, on_delete=models.PROTECT, related_name="writings")

    class Meta(WriterRequest.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=("task",), condition=models.Q(status__in=("queued", "running")), name="writing_at_a_time"
            )
        ]

    def __str__(self) -> str:
        return f"{self.count} of {self.task}"


class Suggestion(models.Model):
    """A wording that a model suggested, for a person to judge. An accepted one is a task of its own."""

    writing = models.ForeignKey(Writing, on_delete=models.CASCADE, related_name="suggestions")
    text = models.TextField(help_text="As the model said it")
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    decided_at = models.DateTimeField(null=True)
    task = models.OneToOneField(Task, null=True, on_delete=models.SET_NULL, related_name="suggestion")

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return self.text[:80]


class DraftRequest(WriterRequest):
    """A request for task drafts under a node: `count` of them, shared out over cells of expertise and scope, of which a
    worker that takes it up again leaves out those that are done."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="draft_requests")
    writer = models.ForeignKey(Writer, on_delete=models.PROTECT, related_name="draft_requests")
    cells: DocumentField[tuple[Cell, ...]] = DocumentField(tuple[Cell, ...])
    cells_done = models.PositiveSmallIntegerField(default=0)
    persona = models.CharField(max_length=200, blank=True)
    language = models.CharField(max_length=2, default="en")
    left_out: DocumentField[tuple[LeftOut, ...]] = DocumentField(tuple[LeftOut, ...], default=tuple)

    class Meta(WriterRequest.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=("node",), condition=models.Q(status__in=("queued", "running")), name="drafting_at_a_time"
            )
        ]

    def __str__(self) -> str:
        return f"{self.count} under {self.node}"


class DraftState(models.TextChoices):
    """What was decided on a draft."""

    WAITING = "waiting"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


class TaskDraft(models.Model):
    """A task that a person or a model wrote for a node, and that somebody is to judge: accepted, it is a task of a
    pool. `request` is of a model's; `original` is the text as it said it."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="drafts")
    text = models.TextField()
    expertise = models.CharField(max_length=12, help_text="novice, intermediate or expert")
    applications = ArrayField(models.CharField(max_length=100), help_text="Names of the applications it is done in")
    persona = models.CharField(max_length=200, blank=True)
    preconditions = ArrayField(models.CharField(max_length=300), default=list, blank=True)
    criteria = ArrayField(models.CharField(max_length=300), help_text="What must all be true in the end")
    rubric: DocumentField[Rubric] = DocumentField(Rubric)
    request = models.ForeignKey(DraftRequest, null=True, on_delete=models.CASCADE, related_name="drafts")
    prompt_sha256 = models.CharField(max_length=64, blank=True)
    original = models.TextField(blank=True)
    written_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=8, choices=DraftState.choices, default=DraftState.WAITING)
    reason = models.CharField(max_length=500, blank=True, help_text="Why it was rejected")
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    decided_at = models.DateTimeField(null=True)
    task = models.OneToOneField(Task, null=True, on_delete=models.SET_NULL, related_name="draft")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("id",)
        indexes = [models.Index(fields=("node", "state"), name="draft_listed")]

    def __str__(self) -> str:
        return self.text[:80]
