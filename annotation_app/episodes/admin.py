"""Episodes in Django's admin, read-only."""

from django.contrib import admin

from annotation_app.audit.admin import ReadOnlyAdmin
from annotation_app.episodes.models import Command, Episode, Step


@admin.register(Episode)
class EpisodeAdmin(ReadOnlyAdmin):
    list_display = ("id", "task", "annotator", "status", "outcome", "review", "created_at")
    list_filter = ("status", "outcome", "review", "task__pool")


@admin.register(Command)
class CommandAdmin(ReadOnlyAdmin):
    list_display = ("command_id", "episode", "note", "created_at")
    search_fields = ("=episode__id", "note")


@admin.register(Step)
class StepAdmin(ReadOnlyAdmin):
    list_display = ("episode", "index", "actor", "decision", "created_at")
    list_filter = ("actor", "decision")
