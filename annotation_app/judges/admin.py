"""Judges in Django's admin: new ones are added, old ones stay as they were; what they said is read only."""

from django.contrib import admin
from django.http import HttpRequest

from annotation_app.audit.admin import STORABLE_JSON_OVERRIDES, ReadOnlyAdmin
from annotation_app.judges.models import Judge, Judgement, Run


@admin.register(Judge)
class JudgeAdmin(admin.ModelAdmin[Judge]):
    formfield_overrides = STORABLE_JSON_OVERRIDES
    list_display = ("name", "revision", "kind", "model", "scripted", "created_at")

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    list_display = ("id", "pool", "judge", "status", "judged", "total", "requested_by", "created_at")


@admin.register(Judgement)
class JudgementAdmin(ReadOnlyAdmin):
    list_display = ("episode", "judge", "score", "created_at")
    list_filter = ("judge",)
    raw_id_fields = ("episode",)
