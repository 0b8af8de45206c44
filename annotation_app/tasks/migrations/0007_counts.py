"""Tasks that are there already get their counts: until now one person did each."""

from django.db import migrations


def counts_fill(apps, schema_editor):
    tasks = apps.get_model("tasks", "Task").objects
    tasks.filter(state="claimed").update(held=1)
    tasks.filter(state="done").update(finished=1)


class Migration(migrations.Migration):

    dependencies = [("tasks", "0006_pools")]

    operations = [migrations.RunPython(counts_fill, migrations.RunPython.noop)]
