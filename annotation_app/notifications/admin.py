"""Notices and webhooks in Django's admin: read-only; the pages change them."""

from django.contrib import admin

from annotation_app.audit.admin import ReadOnlyAdmin
from annotation_app.notifications.models import Delivery, Notice, Webhook


@admin.register(Notice)
class NoticeAdmin(ReadOnlyAdmin):
    list_display = ("user", "kind", "subject", "created_at", "read_at", "mailed_at")
    list_filter = ("kind",)


@admin.register(Webhook)
class WebhookAdmin(ReadOnlyAdmin):
    list_display = ("url", "events", "enabled", "refusals", "created_at")
    exclude = ("secret",)


@admin.register(Delivery)
class DeliveryAdmin(ReadOnlyAdmin):
    list_display = ("id", "webhook", "event", "state", "attempts", "status", "created_at")
    list_filter = ("state", "event")
