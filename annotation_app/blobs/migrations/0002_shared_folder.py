"""Which data folder is this installation's."""

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("blobs", "0001_initial")]

    operations: ClassVar = [
        migrations.CreateModel(
            name="SharedFolder",
            fields=[
                ("id", models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("mark", models.UUIDField()),
            ],
        ),
    ]
