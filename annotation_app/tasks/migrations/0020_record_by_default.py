from django.db import migrations, models


class Migration(migrations.Migration):
    """New pools keep recordings wherever they are made, as on the page; pools that are there stay as they are."""

    dependencies = [("tasks", "0019_text_continuation")]

    operations = [
        migrations.AlterField(
            model_name="pool",
            name="record",
            field=models.BooleanField(default=True, help_text="Keep a video of every episode"),
        ),
    ]
