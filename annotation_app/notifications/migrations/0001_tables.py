"""Tables of notices and webhooks, which were two apps before; their tables keep their names and rows."""

import uuid

import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from annotation_app.migration_operations import CreateMissingModel


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        CreateMissingModel(
            name="Notice",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=32)),
                ("subject", models.CharField(help_text="What it is about, as kind:id", max_length=128)),
                ("details", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("read_at", models.DateTimeField(null=True)),
                ("mailed_at", models.DateTimeField(help_text="When it was mailed, or it was decided not to", null=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notices",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "notices_notice",
                "ordering": ("-id",),
                "indexes": [
                    models.Index(fields=["user", "-id"], name="notice_newest"),
                    models.Index(condition=models.Q(("mailed_at__isnull", True)), fields=["id"], name="notice_unmailed"),
                ],
            },
        ),
        CreateMissingModel(
            name="Webhook",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("url", models.CharField(max_length=500)),
                (
                    "events",
                    django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=32), size=None),
                ),
                ("secret", models.TextField(editable=False)),
                ("enabled", models.BooleanField(default=True)),
                (
                    "refusals",
                    models.PositiveIntegerField(default=0, help_text="Attempts that failed, one after the other"),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={"db_table": "webhooks_webhook", "ordering": ("id",)},
        ),
        CreateMissingModel(
            name="Delivery",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("event", models.CharField(max_length=32)),
                ("body", models.TextField()),
                (
                    "state",
                    models.CharField(
                        choices=[("pending", "Pending"), ("delivered", "Delivered"), ("failed", "Failed")],
                        default="pending",
                        max_length=9,
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("next_at", models.DateTimeField(default=django.utils.timezone.now, help_text="When it is tried next")),
                ("status", models.PositiveSmallIntegerField(help_text="What the last attempt was answered", null=True)),
                ("error", models.CharField(blank=True, max_length=200)),
                ("took_ms", models.FloatField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "webhook",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deliveries",
                        to="notifications.webhook",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "deliveries",
                "db_table": "webhooks_delivery",
                "ordering": ("-created_at", "-id"),
                "indexes": [
                    models.Index(condition=models.Q(("state", "pending")), fields=["next_at"], name="delivery_due"),
                    models.Index(fields=["webhook", "-created_at", "-id"], name="delivery_newest"),
                    models.Index(fields=["created_at"], name="delivery_kept"),
                ],
            },
        ),
    ]
