"""What the gates of pools said."""

from django.db import models

from annotation_app.policies.models import Evaluation, PolicyRevision
from annotation_app.tasks.models import Pool


class GateDecision(models.Model):
    """What a pool's gate said of a report, once; `active` is who proposed in the pool then."""

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
