"""Paired computers, and the sessions that were uploaded from them."""

from django.conf import settings
from django.db import models

from annotation_app.accounts.models import Token
from annotation_app.tasks.models import Pool


class PairedComputer(models.Model):
    """A computer whose recorder uploads for a person. It begins as a code and ends when its token does. The row stays:
    from it a recorder that is refused learns why."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="paired_computers")
    name = models.CharField(max_length=64, help_text="As the person calls it")
    code_digest = models.CharField(max_length=64, unique=True, editable=False)
    code_expires_at = models.DateTimeField()
    paired_at = models.DateTimeField(null=True, help_text="When the code was used")
    token = models.OneToOneField(Token, null=True, on_delete=models.SET_NULL, related_name="computer", editable=False)
    token_sha256 = models.CharField(max_length=64, blank=True, db_index=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"{self.name} of {self.user}"


class RecordedSession(models.Model):
    """A session that a person has uploaded, or is uploading, from their recorder. How far it is follows from the
    upload, the import and the episode of its id."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="recorded_sessions")
    session = models.UUIDField(help_text="The id that the recorder gave it; its episode has the same")
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="recorded_sessions")
    task_key = models.CharField(max_length=200, blank=True, help_text="The task whose brief was recorded; empty: none")
    computer = models.ForeignKey(PairedComputer, null=True, on_delete=models.SET_NULL, related_name="sessions")
    size = models.PositiveBigIntegerField(help_text="Bytes that are sent")
    upload = models.UUIDField(null=True, help_text="The upload, and the import that it became")
    created_at = models.DateTimeField(auto_now_add=True)
    deleted_at = models.DateTimeField(null=True, help_text="When its owner deleted it here")

    class Meta:
        ordering = ("-created_at", "-id")
        constraints = [models.UniqueConstraint(fields=("owner", "session"), name="session_once")]

    def __str__(self) -> str:
        return f"{self.session} of {self.owner}"
