"""The audit log in Django's admin, read-only."""

import json
import re
from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db import models
from django.http import HttpRequest

from annotation_app.audit.models import AuditEntry
from protocol.base import find_json_error

NUL_PATTERN = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
"""NUL in JSON; an escaped backslash before `u0000` is not one."""


class StorableJSONField(forms.JSONField):
    """JSON that PostgreSQL can store: without NaN, Infinity, lone surrogates and NUL, which Python's reader accepts."""

    def to_python(self, value: Any) -> Any:
        """Raises ValidationError."""
        read = super().to_python(value)
        if (fault := find_json_error(read)) is not None:
            raise ValidationError(": ".join(filter(None, fault)))
        if NUL_PATTERN.search(json.dumps(read)):
            raise ValidationError("it holds a NUL character")
        return read


STORABLE_JSON_OVERRIDES: dict[type[models.Field[Any, Any]], dict[str, Any]] = {
    models.JSONField: {"form_class": StorableJSONField}
}
"""The `formfield_overrides` for an admin with editable JSON."""


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
