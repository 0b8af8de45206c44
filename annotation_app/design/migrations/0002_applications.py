"""Applications with their indicators, measures of nodes, and the wanted spread over levels of difficulty."""

import django.db.models.deletion
from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import migrations, models

from annotation_app.migration_operations import OperationBatch

DEGREE = [MinValueValidator(0), MaxValueValidator(10.0)]
STATES = [("candidate", "Candidate"), ("chosen", "Chosen"), ("dropped", "Dropped")]
INDICATORS = [(one, one) for one in ("coverage", "engagement", "penetration")]


def key() -> models.BigAutoField:
    return models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


def person(*, null: bool = False) -> models.ForeignKey:
    on_delete = django.db.models.deletion.PROTECT
    return models.ForeignKey(null=null, on_delete=on_delete, related_name="+", to=settings.AUTH_USER_MODEL)


class Migration(migrations.Migration):
    dependencies = [
        ("design", "0001_initial"),
        ("tasks", "0020_record_by_default"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        OperationBatch([
            *(
                migrations.AddField("node", name, models.FloatField(null=True, validators=DEGREE))
                for name in ("frequency", "benefit", "transfer")
            ),
            migrations.AddField(
                "node",
                "measured_by",
                models.CharField(blank=True, help_text="Where the three measures come from", max_length=500),
            ),
            migrations.AddConstraint(
                "node",
                models.CheckConstraint(
                    condition=models.Q(
                        models.Q(frequency__isnull=True, benefit__isnull=True, transfer__isnull=True),
                        models.Q(frequency__isnull=False, benefit__isnull=False, transfer__isnull=False),
                        _connector="OR",
                    ),
                    name="node_measures_together",
                ),
            ),
            migrations.CreateModel(
                name="Application",
                fields=[
                    ("id", key()),
                    ("name", models.CharField(max_length=100, unique=True)),
                    ("state", models.CharField(choices=STATES, default="candidate", max_length=9)),
                    ("reason", models.CharField(blank=True, max_length=500)),
                    ("decided_at", models.DateTimeField(null=True)),
                    ("decided_score", models.FloatField(null=True)),
                    ("decided_version", models.PositiveIntegerField(null=True)),
                    ("created_at", models.DateTimeField(auto_now_add=True)),
                    ("decided_by", person(null=True)),
                    (
                        "node",
                        models.OneToOneField(
                            null=True,
                            on_delete=django.db.models.deletion.SET_NULL,
                            related_name="application",
                            to="design.node",
                        ),
                    ),
                ],
                options={"ordering": ("name",)},
            ),
            migrations.CreateModel(
                name="Reading",
                fields=[
                    ("id", key()),
                    ("indicator", models.CharField(choices=INDICATORS, max_length=11)),
                    ("value", models.FloatField(validators=[MinValueValidator(0)])),
                    ("unit", models.CharField(max_length=40)),
                    ("source", models.CharField(max_length=500)),
                    ("dated", models.DateField()),
                    (
                        "application",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="readings",
                            to="design.application",
                        ),
                    ),
                    ("recorded_by", person()),
                ],
                options={
                    "ordering": ("indicator", "-dated", "source"),
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("application", "indicator", "dated", "source"), name="reading_once"
                        )
                    ],
                },
            ),
            migrations.CreateModel(
                name="ScoringVersion",
                fields=[
                    ("version", models.PositiveIntegerField(primary_key=True, serialize=False)),
                    ("rule", models.TextField()),
                    ("created_at", models.DateTimeField(auto_now_add=True)),
                    ("created_by", person()),
                ],
                options={"ordering": ("-version",)},
            ),
            migrations.CreateModel(
                name="DifficultyTarget",
                fields=[
                    ("id", key()),
                    ("shares", models.TextField()),
                    (
                        "pool",
                        models.ForeignKey(
                            null=True,
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="+",
                            to="tasks.pool",
                        ),
                    ),
                ],
                options={
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("pool",), name="difficulty_target_once", nulls_distinct=False
                        )
                    ]
                },
            ),
        ]),
    ]
