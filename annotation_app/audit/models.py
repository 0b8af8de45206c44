"""The audit log's table; a database trigger refuses changes to its rows."""

from django.conf import settings
from django.db import models
from django.db.models import F, Func, Value

from annotation_app.audit.sources import MAX_SOURCE_CHARACTERS

MAX_SUBJECT_CHARACTERS = 128
SUBJECT_KIND = Func(F("subject"), Value(":"), Value(1), function="split_part", output_field=models.CharField())
"""The kind of an entry's subject: the part before the colon."""


class AuditEntry(models.Model):
    """One recorded action. `subject` is its object, as `kind:id`.

    Its indexes end in the id, so that the newest entries of each filter are read in order, without a sort.
    """

    at = models.DateTimeField(auto_now_add=True, db_index=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    source = models.CharField(max_length=MAX_SOURCE_CHARACTERS, default="", db_default="")
    """How the work was started, or which part of the platform acted, as `kind` or `kind:name`. Empty in entries of
    earlier versions. See `annotation_app.audit.sources`."""
    verb = models.CharField(max_length=64)
    subject = models.CharField(max_length=MAX_SUBJECT_CHARACTERS)
    details = models.JSONField(default=dict)

    class Meta:
        verbose_name_plural = "audit entries"
        ordering = ("-id",)
        indexes = (
            models.Index(fields=["actor", "-id"], name="audit_actor"),
            models.Index(fields=["verb", "-id"], name="audit_verb"),
            models.Index(fields=["subject", "-id"], name="audit_subject"),
            models.Index(SUBJECT_KIND, F("id").desc(), name="audit_kind"),
        )

    def __str__(self) -> str:
        return f"{self.verb} {self.subject}"
