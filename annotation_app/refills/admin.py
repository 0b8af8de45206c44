"""Refills in Django's admin: read, never changed."""

from django.contrib import admin

from annotation_app.audit.admin import ReadOnlyAdmin
from annotation_app.refills.models import Refill, RefillRule


@admin.register(RefillRule)
class RefillRuleAdmin(ReadOnlyAdmin):
    list_display = ("pool", "active", "per_day", "waiting_per_kind", "looked_at", "error")


@admin.register(Refill)
class RefillAdmin(ReadOnlyAdmin):
    list_display = ("pool", "kind", "reason", "need", "made", "added", "created_at")
