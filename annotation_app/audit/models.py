"""The audit log's table; a database trigger refuses changes to its rows."""

from django.conf import settings
from django.db import models


class AuditEntry(models.Model):
    """One thing somebody did. `subject` names what it was done to, as `kind:id`."""

    at = models.DateTimeField(auto_now_add=True, db_index=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    verb = models.CharField(max_length=64)
    subject = models.CharField(max_length=128, db_index=True)
    details = models.JSONField(default=dict)

    class Meta:
        verbose_name_plural = "audit entries"
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"{self.verb} {self.subject}"
