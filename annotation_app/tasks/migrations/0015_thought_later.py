from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tasks", "0014_speculation")]

    operations = [
        migrations.AddField(
            model_name="pool",
            name="thought_later",
            field=models.BooleanField(default=False, help_text="A required thought may be written after its step"),
        ),
    ]
