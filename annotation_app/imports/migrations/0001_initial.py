import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models

from annotation_app.migration_operations import OperationBatch


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('tasks', '0008_search'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        OperationBatch([
            migrations.CreateModel(
                name='Import',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('name', models.CharField(help_text="The file's or folder's name", max_length=200)),
                    ('folder', models.CharField(blank=True, help_text='Where it lies; empty: what was uploaded', max_length=4096)),
                    ('format', models.CharField(blank=True, help_text='What its rows have to be; empty: what they are', max_length=16)),
                    ('pool_name', models.CharField(max_length=100)),
                    ('status', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='queued', max_length=9)),
                    ('progress', models.FloatField(default=0, help_text='0 to 1')),
                    ('file', models.CharField(blank=True, max_length=4096)),
                    ('offset', models.PositiveBigIntegerField(default=0)),
                    ('line', models.PositiveBigIntegerField(default=0)),
                    ('imported', models.PositiveIntegerField(default=0, help_text='Trajectories that came in')),
                    ('steps', models.PositiveBigIntegerField(default=0)),
                    ('known', models.PositiveIntegerField(default=0, help_text='Trajectories that were here already')),
                    ('refused', models.PositiveIntegerField(default=0)),
                    ('code', models.CharField(blank=True, max_length=40)),
                    ('error', models.TextField(blank=True)),
                    ('attempts', models.PositiveSmallIntegerField(default=0, help_text='How often a worker began it')),
                    ('heard_at', models.DateTimeField(default=django.utils.timezone.now, help_text='When it was queued, or its worker got further')),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('finished_at', models.DateTimeField(null=True)),
                    ('pool', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='imports', to='tasks.pool')),
                    ('requested_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='imports', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ('-created_at',),
                },
            ),
            migrations.CreateModel(
                name='Refusal',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('file', models.CharField(max_length=4096)),
                    ('line', models.PositiveBigIntegerField()),
                    ('code', models.CharField(max_length=40)),
                    ('message', models.TextField()),
                    ('of', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='refusals', to='imports.import')),
                ],
                options={
                    'ordering': ('id',),
                },
            ),
        ]),
    ]
