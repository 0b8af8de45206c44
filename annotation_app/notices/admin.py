"""Notices in Django's admin: read, never changed."""

from django.contrib import admin

from annotation_app.audit.admin import ReadOnlyAdmin
from annotation_app.notices.models import Notice


@admin.register(Notice)
class NoticeAdmin(ReadOnlyAdmin):
    list_display = ("user", "kind", "subject", "created_at", "read_at", "mailed_at")
    list_filter = ("kind",)
