from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("probes", "0002_sealed_key"),
    ]

    operations = [
        migrations.AddField(
            model_name="policyprobe",
            name="prompt",
            field=models.TextField(blank=True, null=True),
        ),
    ]
