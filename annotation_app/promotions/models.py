"""Decisions of pool gates."""

from django.db import models

from annotation_app.policies.models import Evaluation, PolicyRevision
from annotation_app.tasks.models import Pool


class GateDecision(models.Model):
    """A pool gate's single decision on a report; `active` is the revision that was active then."""

    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="gate_decisions")
    evaluation = models.ForeignKey(Evaluation, on_delete=models.PROTECT, related_name="gate_decisions")
    active = models.ForeignKey(PolicyRevision, null=True, on_delete=models.PROTECT, related_name="+")
    passed = models.BooleanField()
    promoted = models.BooleanField(default=False)
    reasons = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-id",)
        constraints = [models.UniqueConstraint(fields=("pool", "evaluation"), name="gate_decision_once")]

    def __str__(self) -> str:
        return f"{self.pool}: {self.evaluation}"
