"""The rules of retention."""

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models

from annotation_app.tasks.models import Pool


class What(models.TextChoices):
    """What a rule deletes. The first three are the pictures of episodes: of practice, of abandoned ones, and of those
    that no reviewer accepted."""

    PRACTICE = "practice"
    LEFT = "left"
    UNACCEPTED = "unaccepted"
    RECORDINGS = "recordings"
    EXPORTS = "exports"
    AUDIT = "audit"


class Rule(models.Model):
    """Something is deleted a number of days after it ended. The meaning of a rule is never changed. It is on or off,
    and can be switched on only after a preview."""

    what = models.CharField(max_length=10, choices=What.choices)
    pool = models.ForeignKey(Pool, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    days = models.PositiveIntegerField(validators=[MinValueValidator(1)])
    active = models.BooleanField(default=False)
    previewed_at = models.DateTimeField(null=True)
    preview = models.JSONField(default=dict)
    ran_at = models.DateTimeField(null=True)
    removed = models.PositiveBigIntegerField(default=0, help_text="Episodes, recordings, exports or entries, in all")
    freed = models.PositiveBigIntegerField(default=0, help_text="Bytes, in all")
    error = models.TextField(blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint(fields=("what", "pool"), name="rule_once", nulls_distinct=False),
        ]

    def __str__(self) -> str:
        return f"{self.what} of {self.pool or 'every pool'} after {self.days} days"
