"""Probes in Django's admin: read-only."""

from django.contrib import admin

from annotation_app.audit.admin import ReadOnlyAdmin
from annotation_app.probes.models import PolicyProbe


@admin.register(PolicyProbe)
class PolicyProbeAdmin(ReadOnlyAdmin):
    list_display = ("model", "base_url", "dialect", "status", "reason", "created_at")
    list_filter = ("status", "reason")
