"""Addresses that are told of events, and what became of each message."""

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone


class Webhook(models.Model):
    """An address that is told of some kinds of event; its secret is sealed."""

    url = models.CharField(max_length=500)
    events = ArrayField(models.CharField(max_length=32))
    secret = models.TextField(editable=False)
    enabled = models.BooleanField(default=True)
    refusals = models.PositiveIntegerField(default=0, help_text="Attempts that failed, one after the other")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
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
        verbose_name_plural = "deliveries"
        ordering = ("-created_at", "-id")
        indexes = [
            models.Index(fields=("next_at",), condition=Q(state="pending"), name="delivery_due"),
            models.Index(fields=("webhook", "-created_at", "-id"), name="delivery_newest"),
            models.Index(fields=("created_at",), name="delivery_kept"),
        ]

    def __str__(self) -> str:
        return f"{self.event} {self.id}"
