"""Indexes that others make superfluous leave the tables that grow with every step: those of an episode, by which the
unique rules find too, and those for patterns, which Django adds to texts and nobody asks for.

They are dropped by name: as a change of fields, the foreign keys would be made anew, and every row be looked at.
"""

import django.db.models.deletion
from django.db import migrations, models

DROPPED = (
    ("episodes_step_episode_id_a00d0d6b", "episodes_step", "episode_id"),
    ("episodes_proposal_episode_id_a60ffe46", "episodes_proposal", "episode_id"),
    ("episodes_episodeblob_episode_id_d141c65b", "episodes_episodeblob", "episode_id"),
    ("episodes_step_command_id_2cfcb82b_like", "episodes_step", "command_id varchar_pattern_ops"),
    ("episodes_command_command_id_9a732b9a_like", "episodes_command", "command_id varchar_pattern_ops"),
    ("episodes_episodeblob_blob_id_c604a8dd_like", "episodes_episodeblob", "blob_id varchar_pattern_ops"),
)
BY_EPISODE = {"step": "steps", "proposal": "proposals", "episodeblob": "blobs"}


def _unindexed(model, related):
    field = models.ForeignKey(
        db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name=related, to="episodes.episode"
    )
    return migrations.AlterField(model_name=model, name="episode", field=field)


class Migration(migrations.Migration):
    dependencies = [("episodes", "0011_catalogued")]

    operations = [
        migrations.SeparateDatabaseAndState(state_operations=[_unindexed(*names) for names in BY_EPISODE.items()]),
        *(
            migrations.RunSQL(f'DROP INDEX "{name}"', f'CREATE INDEX "{name}" ON {table} ({columns})')
            for name, table, columns in DROPPED
        ),
    ]
