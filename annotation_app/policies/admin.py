"""Policy revisions in Django's admin: new ones are added, old ones stay as they were."""

from django.contrib import admin
from django.http import HttpRequest

from annotation_app.audit.admin import STORABLE_JSON_OVERRIDES
from annotation_app.policies.models import PolicyRevision


@admin.register(PolicyRevision)
class PolicyRevisionAdmin(admin.ModelAdmin[PolicyRevision]):
    formfield_overrides = STORABLE_JSON_OVERRIDES
    list_display = ("name", "revision", "dialect", "provider", "model", "checkpoint", "scripted", "created_at")

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False
