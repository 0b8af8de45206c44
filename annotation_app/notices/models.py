"""What somebody is told."""

from django.conf import settings
from django.db import models
from django.db.models import Q


class Notice(models.Model):
    """One thing that happened to somebody's work; the page has its words."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notices")
    kind = models.CharField(max_length=32)
    subject = models.CharField(max_length=128, help_text="What it is about, as kind:id")
    details = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    read_at = models.DateTimeField(null=True)
    mailed_at = models.DateTimeField(null=True, help_text="When it was mailed, or it was decided not to")

    class Meta:
        ordering = ("-id",)
        indexes = [
            models.Index(fields=("user", "-id"), name="notice_newest"),
            models.Index(fields=("id",), condition=Q(mailed_at__isnull=True), name="notice_unmailed"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}"
