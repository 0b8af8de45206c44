from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tasks", "0018_states_index")]

    operations = [
        migrations.AddField(
            model_name="pool",
            name="text_continuation",
            field=models.BooleanField(
                default=False, help_text="The policy continues the thought that an annotator writes"
            ),
        ),
    ]
