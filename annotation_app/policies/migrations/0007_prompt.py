from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("policies", "0006_hosted_models"),
    ]

    operations = [
        migrations.AddField(
            model_name="policyrevision",
            name="prompt",
            field=models.TextField(blank=True, help_text="In place of the dialect's own", null=True),
        ),
    ]
