"""Imports in Django's admin: read, never changed."""

from django.contrib import admin

from annotation_app.audit.admin import ReadOnlyAdmin
from annotation_app.imports.models import Import, Upload


@admin.register(Import)
class ImportAdmin(ReadOnlyAdmin):
    list_display = ("id", "name", "pool_name", "status", "imported", "refused", "requested_by", "created_at")


@admin.register(Upload)
class UploadAdmin(ReadOnlyAdmin):
    list_display = ("id", "name", "owner", "size", "received", "expires_at")
