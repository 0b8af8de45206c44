"""Pools, their tasks, and the leases on them."""

from typing import TYPE_CHECKING

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

import vocabulary.tasks
from annotation_app.documents import DocumentField
from annotation_app.policies.gate import Gate
from annotation_app.policies.models import PolicyRevision

if TYPE_CHECKING:
    from annotation_app.accounts.models import User


class Sampling(models.TextChoices):
    """How the next task of a pool is chosen."""

    IN_ORDER = "in_order"
    BY_NEED = "by_need"


class Pool(models.Model):
    """A set of tasks worked on under the same settings."""

    name = models.CharField(max_length=100, unique=True)
    description = models.TextField(blank=True)
    instructions = models.TextField(blank=True, help_text="Guidance for annotators (Markdown)")
    platform = models.CharField(
        max_length=16, default="desktop", choices=[(p, p) for p in ("desktop", "phone", "browser", "terminal")]
    )
    image = models.CharField(max_length=64, default="desktop", help_text="Which machine image the bridge starts")
    policy = models.ForeignKey(PolicyRevision, null=True, blank=True, on_delete=models.PROTECT, related_name="pools")
    canary = models.ForeignKey(
        PolicyRevision,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="tried_in",
        help_text="A newer revision that a share of the episodes tries",
    )
    canary_share = models.PositiveSmallIntegerField(
        default=0, validators=[MaxValueValidator(100)], help_text="Percent of the episodes that try it"
    )
    gate: DocumentField[Gate | None] = DocumentField(
        Gate, null=True, blank=True, editable=False, help_text="What an evaluation must show"
    )
    sampling = models.CharField(
        max_length=8,
        choices=Sampling.choices,
        default=Sampling.IN_ORDER,
        help_text="by_need: towards tasks where the active revision is overridden or fails",
    )
    candidates = models.PositiveSmallIntegerField(
        default=3, validators=[MinValueValidator(1), MaxValueValidator(16)], help_text="Proposals asked for"
    )
    max_steps = models.PositiveSmallIntegerField(
        default=100, validators=[MinValueValidator(1)], help_text="Most steps of any task of this pool"
    )
    thought_required = models.BooleanField(default=True)
    screenshot_format = models.CharField(max_length=4, default="jpeg", choices=[("jpeg", "jpeg"), ("png", "png")])
    record = models.BooleanField(default=False, help_text="Keep a video of every episode")
    practice = models.BooleanField(default=False, help_text="Tasks stay available; nothing of it is exported")
    paused = models.BooleanField(default=False)
    lease_minutes = models.PositiveSmallIntegerField(
        default=30, validators=[MinValueValidator(1)], help_text="An untouched task returns to the pool after this"
    )
    pause_hours = models.PositiveSmallIntegerField(default=8, help_text="How long a paused episode is kept")
    members: "models.ManyToManyField[User, models.Model]" = models.ManyToManyField(
        settings.AUTH_USER_MODEL, blank=True, related_name="pools"
    )

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return self.name


class TaskState(models.TextChoices):
    """Where a task stands."""

    WAITING = "waiting"
    CLAIMED = "claimed"
    DONE = "done"
    BROKEN = "broken"


class Task(models.Model):
    """Something to do; `definition` is what the machine and the policy are given."""

    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="tasks")
    key = models.CharField(max_length=200, help_text="The definition's id, unique in its pool")
    definition: DocumentField[vocabulary.tasks.Task] = DocumentField(vocabulary.tasks.Task)
    state = models.CharField(max_length=8, choices=TaskState.choices, default=TaskState.WAITING)
    position = models.IntegerField(default=0, help_text="Lower comes first")
    kind = models.CharField(max_length=400, default="", help_text="What tasks with other seeds have in common")
    done = models.PositiveIntegerField(default=0, help_text="How often it was done")
    reopened_at = models.DateTimeField(null=True, help_text="Since when it is to be done again, by anybody")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("position", "id")
        constraints = [models.UniqueConstraint(fields=("pool", "key"), name="task_once_in_pool")]
        indexes = [models.Index(fields=("pool", "state", "position", "id"), name="task_next")]

    def __str__(self) -> str:
        return self.key


class Tally(models.Model):
    """What became of a revision's proposals at one kind of task of a pool, over its ended episodes."""

    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="tallies")
    revision = models.ForeignKey(PolicyRevision, on_delete=models.PROTECT, related_name="tallies")
    kind = models.CharField(max_length=400)
    accepted = models.PositiveIntegerField(default=0)
    overridden = models.PositiveIntegerField(default=0)
    succeeded = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=("pool", "revision", "kind"), name="tally_once")]

    def __str__(self) -> str:
        return f"{self.revision} at {self.kind}"


class AssignmentState(models.TextChoices):
    """ACTIVE and RETURNED hold the task; a returned one waits for its annotator and does not expire."""

    ACTIVE = "active"
    RETURNED = "returned"
    DONE = "done"
    SKIPPED = "skipped"
    RELEASED = "released"
    EXPIRED = "expired"
    BROKEN = "broken"


class Assignment(models.Model):
    """One person's lease on one task until `expires_at`."""

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="assignments")
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="assignments")
    state = models.CharField(max_length=8, choices=AssignmentState.choices, default=AssignmentState.ACTIVE)
    expires_at = models.DateTimeField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=("task",), condition=Q(state__in=("active", "returned")), name="task_held_once"
            )
        ]
        indexes = [models.Index(fields=("state", "expires_at"), name="assignment_expiry")]

    def __str__(self) -> str:
        return f"{self.task} by {self.annotator}"
