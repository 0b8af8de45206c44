from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("policies", "0007_prompt"),
    ]

    operations = [
        migrations.AddField(
            model_name="policyrevision",
            name="retired_at",
            field=models.DateTimeField(
                blank=True, help_text="Since when it may not propose any more; empty: it may", null=True
            ),
        ),
    ]
