"""Recordings in Django's admin, read-only."""

from django.contrib import admin

from annotation_app.audit.admin import ReadOnlyAdmin
from annotation_app.recordings.models import Recording


@admin.register(Recording)
class RecordingAdmin(ReadOnlyAdmin):
    list_display = ("key", "episode", "state", "created_at")
    list_filter = ("state",)
