"""Which version the catalogue shows is a column of the episode, so that an index has those it does not show."""

from django.db import migrations

KEEP = """
UPDATE episodes_episode SET catalogued = catalogue_entry.version
FROM catalogue_entry WHERE catalogue_entry.episode_id = episodes_episode.id
"""


class Migration(migrations.Migration):
    dependencies = [
        ("catalogue", "0001_initial"),
        ("episodes", "0011_catalogued"),
    ]

    operations = [
        migrations.RunSQL(KEEP, migrations.RunSQL.noop),
        migrations.RemoveField(model_name="entry", name="version"),
    ]
