"""The audit log in Django's admin: read, never changed."""

from django.contrib import admin
from django.http import HttpRequest

from annotation_app.audit.models import AuditEntry


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # shared by admins of several models
    """Shows rows that only services write."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    list_display = ("at", "actor", "verb", "subject")
    list_filter = ("verb",)
    search_fields = ("subject",)
