"""Webhooks in Django's admin: read, never changed; the page does that."""

from django.contrib import admin

from annotation_app.audit.admin import ReadOnlyAdmin
from annotation_app.webhooks.models import Delivery, Webhook


@admin.register(Webhook)
class WebhookAdmin(ReadOnlyAdmin):
    list_display = ("url", "events", "enabled", "refusals", "created_at")
    exclude = ("secret",)


@admin.register(Delivery)
class DeliveryAdmin(ReadOnlyAdmin):
    list_display = ("id", "webhook", "event", "state", "attempts", "status", "created_at")
    list_filter = ("state", "event")
