from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tasks", "0018_states_index")]

    operations = [
        migrations.AddField(
            model_name="pool",
            name="text_continuation",
            field=models.BooleanField(default=True, help_text="The policy continues what an annotator begins to write"),
        ),
    ]
