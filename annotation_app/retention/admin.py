"""Retention rules in Django's admin, read-only."""

from django.contrib import admin

from annotation_app.audit.admin import ReadOnlyAdmin
from annotation_app.retention.models import Rule


@admin.register(Rule)
class RuleAdmin(ReadOnlyAdmin):
    list_display = ("what", "pool", "days", "active", "ran_at", "removed", "freed")
