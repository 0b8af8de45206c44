from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("recordings", "0001_initial")]

    operations = [
        migrations.AlterField(
            model_name="recording",
            name="state",
            field=models.CharField(
                choices=[("at_bridge", "At Bridge"), ("stored", "Stored"), ("lost", "Lost"), ("deleted", "Deleted")],
                default="at_bridge",
                max_length=9,
            ),
        ),
    ]
