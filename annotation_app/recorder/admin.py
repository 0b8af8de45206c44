"""Paired computers and recorded sessions in Django's admin: read, never changed."""

from django.contrib import admin

from annotation_app.audit.admin import ReadOnlyAdmin
from annotation_app.recorder.models import PairedComputer, RecordedSession


@admin.register(PairedComputer)
class PairedComputerAdmin(ReadOnlyAdmin):
    list_display = ("id", "name", "user", "paired_at", "created_at")


@admin.register(RecordedSession)
class RecordedSessionAdmin(ReadOnlyAdmin):
    list_display = ("id", "session", "owner", "pool", "size", "created_at", "deleted_at")
