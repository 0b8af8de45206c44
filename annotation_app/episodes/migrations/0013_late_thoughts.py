"""A thought that was written after its step is a row of its own, which like the step is never changed."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("episodes", "0012_fewer_indexes")]

    operations = [
        migrations.CreateModel(
            name="LateThought",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("thought", models.TextField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "step",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="late_thought", to="episodes.step"
                    ),
                ),
            ],
        ),
        migrations.RunSQL(
            "CREATE TRIGGER never_changed BEFORE UPDATE OR DELETE ON episodes_latethought "
            "FOR EACH ROW EXECUTE FUNCTION refuse_change();",
            "DROP TRIGGER never_changed ON episodes_latethought;",
        ),
    ]
