"""Episodes in Django's admin: read, never changed."""

from django.contrib import admin

from annotation_app.audit.admin import ReadOnlyAdmin
from annotation_app.episodes.models import Episode, Step


@admin.register(Episode)
class EpisodeAdmin(ReadOnlyAdmin):
    list_display = ("id", "task", "annotator", "status", "outcome", "review", "created_at")
    list_filter = ("status", "outcome", "review", "task__pool")


@admin.register(Step)
class StepAdmin(ReadOnlyAdmin):
    list_display = ("episode", "index", "actor", "decision", "created_at")
    list_filter = ("actor", "decision")
