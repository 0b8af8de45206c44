"""Kinds of action, by which episodes are found. Ended episodes are entered again, so that they have them too."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import migrations, models

ENTER_AGAIN = """
UPDATE episodes_episode SET catalogued = version - 1
WHERE status IN ('finished', 'left') AND catalogued = version
"""


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0002_version")]

    operations = [
        migrations.AddField(
            model_name="entry",
            name="actions",
            field=ArrayField(
                models.CharField(max_length=40), default=list, size=None, help_text="Kinds of action that occur in it"
            ),
        ),
        migrations.AddIndex(model_name="entry", index=GinIndex(fields=["actions"], name="entry_actions")),
        migrations.RunSQL(ENTER_AGAIN, migrations.RunSQL.noop),
    ]
