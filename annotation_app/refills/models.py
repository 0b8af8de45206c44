"""Refill rules of pools, and what was added by them."""

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from annotation_app.policies.models import PolicyRevision
from annotation_app.refills.planning import MAX_PER_DAY, MAX_WAITING
from annotation_app.tasks.models import Pool, Task


class RefillRule(models.Model):
    """That a pool gets new tasks of the kinds that its policy fails at, and how many."""

    pool = models.OneToOneField(Pool, on_delete=models.CASCADE, primary_key=True, related_name="refill_rule")
    active = models.BooleanField(default=False)
    per_day = models.PositiveIntegerField(
        default=50,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_PER_DAY)],
        help_text="Most tasks added in 24 hours",
    )
    waiting_per_kind = models.PositiveIntegerField(
        default=5,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_WAITING)],
        help_text="A kind gets tasks while fewer of it wait",
    )
    need_at_least = models.FloatField(
        default=0.5, validators=[MinValueValidator(0), MaxValueValidator(1)], help_text="Need from which a kind counts"
    )
    requested_at = models.DateTimeField(null=True, help_text="When somebody last asked for a refill now")
    looked_at = models.DateTimeField(null=True, help_text="When it was last looked whether something is needed")
    error = models.TextField(blank=True, help_text="Why the last look failed")
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")

    def __str__(self) -> str:
        return f"refill of {self.pool}"


class Refill(models.Model):
    """Tasks of one kind that were added at one time, and what was known of the kind then."""

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="refills")
    kind = models.CharField(max_length=400)
    source = models.CharField(max_length=100, help_text="Who made them, as `suite:NAME`")
    revision = models.ForeignKey(PolicyRevision, null=True, on_delete=models.SET_NULL, related_name="+")
    reason = models.CharField(max_length=20)
    need = models.FloatField()
    accepted = models.PositiveIntegerField(default=0)
    overridden = models.PositiveIntegerField(default=0)
    succeeded = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    made = models.PositiveIntegerField(help_text="Tasks that the source gave")
    added = models.PositiveIntegerField(help_text="Those of them that the pool did not have")
    tasks = models.ManyToManyField(Task, related_name="refills")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-id",)
        indexes = [models.Index(fields=("pool", "-created_at"), name="refill_newest")]

    def __str__(self) -> str:
        return f"{self.added} of {self.kind}"
