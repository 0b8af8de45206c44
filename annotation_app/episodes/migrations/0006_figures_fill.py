"""Steps and proposals that are there already get the columns that reports count by."""

import json
from datetime import datetime

from django.db import migrations

BATCH = 1_000


def steps_fill(apps, schema_editor):
    steps = apps.get_model("episodes", "Step").objects
    schema_editor.execute("ALTER TABLE episodes_step DISABLE TRIGGER never_changed")
    for key, document in steps.values_list("pk", "document").iterator(BATCH):
        step = json.loads(document)
        policy = step.get("policy")
        ended, started = (datetime.fromisoformat(step[name]) for name in ("ended_at", "started_at"))
        steps.filter(pk=key).update(
            policy=f"{policy['name']} {policy['revision']}" if policy else "",
            decide_ms=step.get("decide_ms"),
            took_ms=(ended - started).total_seconds() * 1_000,
        )
    schema_editor.execute("ALTER TABLE episodes_step ENABLE TRIGGER never_changed")


def proposals_fill(apps, schema_editor):
    proposals = apps.get_model("episodes", "Proposal").objects
    for key, document in proposals.values_list("pk", "document").iterator(BATCH):
        proposals.filter(pk=key).update(latency_ms=json.loads(document)["latency_ms"])


class Migration(migrations.Migration):

    dependencies = [("episodes", "0005_figures")]

    operations = [
        migrations.RunPython(steps_fill, migrations.RunPython.noop),
        migrations.RunPython(proposals_fill, migrations.RunPython.noop),
    ]
