"""Exports in Django's admin: read, never changed."""

from django.contrib import admin

from annotation_app.audit.admin import ReadOnlyAdmin
from annotation_app.exports.models import Export


@admin.register(Export)
class ExportAdmin(ReadOnlyAdmin):
    list_display = ("id", "pool", "status", "trajectories", "requested_by", "created_at")
