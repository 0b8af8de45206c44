"""Notices of people, addresses of webhooks and the messages sent to them.

The tables keep the names that they had when notices and webhooks were two apps.
"""

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone


class Notice(models.Model):
    """One thing that happened to somebody's work; the page has its words."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notices")
    kind = models.CharField(max_length=32)
    subject = models.CharField(max_length=128, help_text="What it is about, as kind:id")
    details = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    read_at = models.DateTimeField(null=True)
    mailed_at = models.DateTimeField(null=True, help_text="When it was mailed, or it was decided not to")

    class Meta:
        db_table = "notices_notice"
        ordering = ("-id",)
        indexes = [
            models.Index(fields=("user", "-id"), name="notice_newest"),
            models.Index(fields=("id",), condition=Q(mailed_at__isnull=True), name="notice_unmailed"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}"


class Webhook(models.Model):
    """An address that is told of some kinds of event; its secret is sealed."""

    url = models.CharField(max_length=500)
    events = ArrayField(models.CharField(max_length=32))
    secret = models.TextField(editable=False)
    enabled = models.BooleanField(default=True)
    refusals = models.PositiveIntegerField(default=0, help_text="Attempts that failed, one after the other")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "webhooks_webhook"
        ordering = ("id",)

    def __str__(self) -> str:
        return self.url


class DeliveryState(models.TextChoices):
    """Where a message stands."""

    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"


class Delivery(models.Model):
    """One message to one address; stored in the transaction that makes it true, so that none is lost or invented. The
    id is the message's own: a receiver knows by it what it has had."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    event = models.CharField(max_length=32)
    body = models.TextField()
    state = models.CharField(max_length=9, choices=DeliveryState.choices, default=DeliveryState.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_at = models.DateTimeField(default=timezone.now, help_text="When it is tried next")
    status = models.PositiveSmallIntegerField(null=True, help_text="What the last attempt was answered")
    error = models.CharField(max_length=200, blank=True)
    took_ms = models.FloatField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "webhooks_delivery"
        verbose_name_plural = "deliveries"
        ordering = ("-created_at", "-id")
        indexes = [
            models.Index(fields=("next_at",), condition=Q(state="pending"), name="delivery_due"),
            models.Index(fields=("webhook", "-created_at", "-id"), name="delivery_newest"),
            models.Index(fields=("created_at",), name="delivery_kept"),
        ]

    def __str__(self) -> str:
        return f"{self.event} {self.id}"
