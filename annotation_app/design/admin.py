"""Models that word instructions in Django's admin: new ones are added, old ones stay as they were."""

from django.contrib import admin
from django.http import HttpRequest

from annotation_app.design.models import Writer


@admin.register(Writer)
class WriterAdmin(admin.ModelAdmin[Writer]):
    list_display = ("name", "revision", "model", "base_url", "created_at")

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False
