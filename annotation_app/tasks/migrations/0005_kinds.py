"""Tasks that are there already get their kind, and how often they were done."""

from django.db import migrations
from django.db.models import Count
from pydantic import TypeAdapter

from annotation_app.fields import parse_document
from protocol.trajectory.tasks import Task, task_kind


def kinds_fill(apps, schema_editor):
    tasks = apps.get_model("tasks", "Task").objects
    done = dict(
        apps.get_model("tasks", "Assignment")
        .objects.filter(state="done")
        .values_list("task_id")
        .annotate(n=Count("id"))
        .order_by()
    )
    for key, definition in tasks.values_list("pk", "definition").iterator():
        tasks.filter(pk=key).update(kind=task_kind(parse_document(TypeAdapter(Task), definition)), done=done.get(key, 0))


class Migration(migrations.Migration):

    dependencies = [("tasks", "0004_need")]

    operations = [migrations.RunPython(kinds_fill, migrations.RunPython.noop)]
