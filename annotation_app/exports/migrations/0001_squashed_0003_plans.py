import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models

from annotation_app.migration_operations import OperationBatch


class Migration(migrations.Migration):

    replaces = [('exports', '0001_initial'), ('exports', '0002_progress'), ('exports', '0003_plans')]

    initial = True

    dependencies = [
        ('policies', '0004_evaluations'),
        ('tasks', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        OperationBatch([
            migrations.CreateModel(
                name='Export',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('filters', models.JSONField(default=dict)),
                    ('status', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='queued', max_length=9)),
                    ('progress', models.FloatField(default=0, help_text='0 to 1')),
                    ('trajectories', models.PositiveIntegerField(default=0)),
                    ('bytes', models.BigIntegerField(default=0)),
                    ('error', models.TextField(blank=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('finished_at', models.DateTimeField(null=True)),
                    ('pool', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='exports', to='tasks.pool')),
                    ('requested_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='exports', to=settings.AUTH_USER_MODEL)),
                    ('attempts', models.PositiveSmallIntegerField(default=0, help_text='How often a worker began to write it')),
                    ('heard_at', models.DateTimeField(default=django.utils.timezone.now, help_text='When it was queued, or its worker got further')),
                    ('destination', models.CharField(blank=True, help_text='s3://bucket/prefix it is pushed to', max_length=300)),
                    ('manifest_sha256', models.CharField(blank=True, max_length=64)),
                    ('missing', models.JSONField(default=list, help_text='The first pictures that are lost')),
                    ('plan', models.JSONField(default=dict, help_text='Format, dialect, how it is divided')),
                    ('pushed', models.BooleanField(default=False)),
                    ('records', models.PositiveBigIntegerField(default=0, help_text='Rows, samples or folders')),
                    ('refused', models.PositiveIntegerField(default=0, help_text='Rows that were left out')),
                ],
                options={
                    'ordering': ('-created_at',),
                },
            ),
            migrations.CreateModel(
                name='Version',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=64)),
                    ('number', models.PositiveIntegerField()),
                    ('notes', models.TextField(blank=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('export', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='version', to='exports.export')),
                ],
                options={
                    'ordering': ('name', '-number'),
                    'constraints': [models.UniqueConstraint(fields=('name', 'number'), name='version_once')],
                },
            ),
            migrations.CreateModel(
                name='Lineage',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('revision', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='lineages', to='policies.policyrevision')),
                    ('version', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='lineages', to='exports.version')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('version', 'revision'), name='lineage_once')],
                },
            ),
            migrations.CreateModel(
                name='VersionMember',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('episode', models.UUIDField()),
                    ('split', models.CharField(max_length=10)),
                    ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='members', to='exports.version')),
                ],
                options={
                    'indexes': [models.Index(fields=['episode'], name='member_episode')],
                    'constraints': [models.UniqueConstraint(fields=('version', 'episode'), name='member_once')],
                },
            ),
        ]),
    ]
