"""Pools, tasks and assignments in Django's admin."""

from django.contrib import admin
from django.http import HttpRequest

from annotation_app.audit.admin import ReadOnlyAdmin
from annotation_app.tasks.models import Assignment, Pool, Task


@admin.register(Pool)
class PoolAdmin(ReadOnlyAdmin):
    """Pools are changed on their own page: there nobody overwrites what they have not seen, and it is audited."""

    list_display = ("name", "platform", "policy", "canary", "canary_share", "practice", "paused")


@admin.register(Task)
class TaskAdmin(admin.ModelAdmin[Task]):
    list_display = ("key", "pool", "state", "position")
    list_filter = ("pool", "state")
    fields = (
        "pool",
        "key",
        "definition",
        "state",
        "position",
        "kind",
        "done",
        "held",
        "finished",
        "gold",
        "reopened_at",
    )
    readonly_fields = tuple(name for name in fields if name not in ("state", "position"))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False  # a definition is a document: `manage.py load_tasks` checks it


@admin.register(Assignment)
class AssignmentAdmin(ReadOnlyAdmin):
    list_display = ("task", "annotator", "state", "expires_at")
    list_filter = ("state",)
