"""The ledger: flywheels, their cycles stage by stage, the route of each sample, and the ancestry of checkpoints."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

import annotation_app.flywheel.recipe
import annotation_app.flywheel.sample_rules
from annotation_app.fields import DocumentField
from annotation_app.policies.models import PolicyRevision
from annotation_app.tasks.models import Pool


class Wheel(models.Model):
    """A flywheel: the pool whose trajectories it learns from, and its recipe."""

    name = models.CharField(max_length=64, unique=True)
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="wheels")
    recipe: DocumentField[annotation_app.flywheel.recipe.Recipe] = DocumentField(annotation_app.flywheel.recipe.Recipe)
    every_hours = models.PositiveIntegerField(null=True, help_text="How often the clock begins a turn; null: never")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class TurnState(models.TextChoices):
    """The state of a cycle. One that is running continues if its worker dies."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Turn(models.Model):
    """One cycle, with the recipe as it was at its start."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    wheel = models.ForeignKey(Wheel, on_delete=models.PROTECT, related_name="turns")
    number = models.PositiveIntegerField()
    recipe: DocumentField[annotation_app.flywheel.recipe.Recipe] = DocumentField(annotation_app.flywheel.recipe.Recipe)
    active = models.ForeignKey(
        PolicyRevision, null=True, on_delete=models.PROTECT, related_name="+", help_text="Who proposed as it began"
    )
    state = models.CharField(max_length=9, choices=TurnState.choices, default=TurnState.RUNNING)
    by_clock = models.BooleanField(default=False)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    resumed_at = models.DateTimeField(null=True, help_text="When somebody last had it go on")
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-created_at",)
        constraints = [
            models.UniqueConstraint(fields=("wheel", "number"), name="turn_once"),
            models.UniqueConstraint(fields=("wheel",), condition=Q(state="running"), name="turn_at_a_time"),
        ]

    def __str__(self) -> str:
        return f"{self.wheel} {self.number}"


class StageState(models.TextChoices):
    """begun: a worker runs it, or died while running it. It is then rerun."""

    BEGUN = "begun"
    DONE = "done"
    FAILED = "failed"


class Stage(models.Model):
    """A stage of a cycle that was begun, and its result."""

    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="stages")
    name = models.CharField(max_length=10)
    state = models.CharField(max_length=6, choices=StageState.choices, default=StageState.BEGUN)
    tries = models.PositiveSmallIntegerField(default=1)
    stumbles = models.PositiveSmallIntegerField(
        default=0, help_text="Tries that an error nobody foresaw ended, since somebody last had the turn go on"
    )
    result = models.JSONField(default=dict)
    code = models.CharField(max_length=64, blank=True)
    error = models.TextField(blank=True)
    began_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("id",)
        constraints = [models.UniqueConstraint(fields=("turn", "name"), name="stage_once")]

    def __str__(self) -> str:
        return f"{self.turn} {self.name}"


class Sample(models.Model):
    """A trajectory that a flywheel collected, once, and its route. Empty columns belong to later stages."""

    wheel = models.ForeignKey(Wheel, on_delete=models.PROTECT, related_name="samples")
    turn = models.ForeignKey(Turn, on_delete=models.PROTECT, related_name="samples")
    episode = models.UUIDField(db_index=True, help_text="No key: what is deleted leaves its name here")
    executable = models.BooleanField(null=True)
    duplicate_of = models.UUIDField(null=True)
    grounds: DocumentField[annotation_app.flywheel.sample_rules.Grounds | None] = DocumentField(
        annotation_app.flywheel.sample_rules.Grounds, null=True
    )
    value = models.FloatField(null=True)
    valued_by = models.CharField(max_length=8, blank=True)
    contested = models.BooleanField(default=False)
    route = models.CharField(max_length=4, blank=True)
    reason = models.CharField(max_length=16, blank=True)

    class Meta:
        ordering = ("id",)
        constraints = [models.UniqueConstraint(fields=("wheel", "episode"), name="sample_once")]
        indexes = [models.Index(fields=("turn", "route"), name="sample_route")]

    def __str__(self) -> str:
        return f"{self.episode} in {self.turn_id}"


class Played(models.Model):
    """A kind of task in a cycle: the active revision's results at it, and whether reinforcement plays it."""

    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="played")
    kind = models.CharField(max_length=400)
    succeeded = models.PositiveIntegerField()
    attempts = models.PositiveIntegerField()
    chosen = models.BooleanField()

    class Meta:
        ordering = ("kind",)
        constraints = [models.UniqueConstraint(fields=("turn", "kind"), name="played_once")]

    def __str__(self) -> str:
        return self.kind


class Checkpoint(models.Model):
    """Weights that a cycle trained. `begun_with` is the path of their start, `revision` is what they serve as."""

    turn = models.ForeignKey(Turn, on_delete=models.PROTECT, related_name="checkpoints")
    phase = models.CharField(max_length=5)
    domain = models.CharField(max_length=100, blank=True, default="", help_text="The pool of a specialist, by name")
    path = models.CharField(max_length=500)
    sha256 = models.CharField(max_length=64, help_text="Of the names and contents of its weights")
    begun_with = models.CharField(max_length=500)
    parent = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="children")
    parts: models.ManyToManyField["Checkpoint", "Checkpoint"] = models.ManyToManyField(
        "self", symmetrical=False, related_name="merged_in", help_text="The specialists it was merged of"
    )
    revision = models.ForeignKey(PolicyRevision, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("id",)
        constraints = [models.UniqueConstraint(fields=("turn", "phase", "domain"), name="checkpoint_once")]

    def __str__(self) -> str:
        return f"{self.turn} {self.phase}"


class Use(models.Model):
    """The use of a sample in a checkpoint's training: read as a new or earlier sample, or its kind of task was
    played."""

    checkpoint = models.ForeignKey(Checkpoint, on_delete=models.CASCADE, related_name="uses")
    sample = models.ForeignKey(Sample, on_delete=models.PROTECT, related_name="uses")
    source = models.CharField(max_length=7)

    class Meta:
        constraints = [models.UniqueConstraint(fields=("checkpoint", "sample"), name="use_once")]

    def __str__(self) -> str:
        return f"{self.sample_id} in {self.checkpoint_id}"
