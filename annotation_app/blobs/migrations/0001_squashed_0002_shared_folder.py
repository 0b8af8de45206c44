from django.db import migrations, models

from annotation_app.migration_operations import OperationBatch


class Migration(migrations.Migration):

    replaces = [('blobs', '0001_initial'), ('blobs', '0002_shared_folder')]

    initial = True

    dependencies = [
    ]

    operations = [
        OperationBatch([
            migrations.CreateModel(
                name='Blob',
                fields=[
                    ('sha256', models.CharField(max_length=64, primary_key=True, serialize=False)),
                    ('media_type', models.CharField(max_length=64)),
                    ('size', models.BigIntegerField()),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                ],
            ),
            migrations.CreateModel(
                name='SharedFolder',
                fields=[
                    ('id', models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                    ('mark', models.UUIDField()),
                ],
            ),
        ]),
    ]
