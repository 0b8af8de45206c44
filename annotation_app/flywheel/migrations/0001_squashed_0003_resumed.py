import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models

from annotation_app.migration_operations import OperationBatch


class Migration(migrations.Migration):

    replaces = [('flywheel', '0001_ledger'), ('flywheel', '0002_stumbles'), ('flywheel', '0003_resumed')]

    initial = True

    dependencies = [
        ('policies', '0005_memory_in_tokens'),
        ('tasks', '0008_search'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        OperationBatch([
            migrations.CreateModel(
                name='Wheel',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=64, unique=True)),
                    ('recipe', models.TextField()),
                    ('every_hours', models.PositiveIntegerField(help_text='How often the clock begins a turn; null: never', null=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('pool', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='wheels', to='tasks.pool')),
                ],
                options={
                    'ordering': ('name',),
                },
            ),
            migrations.CreateModel(
                name='Turn',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('number', models.PositiveIntegerField()),
                    ('recipe', models.TextField()),
                    ('state', models.CharField(choices=[('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='running', max_length=9)),
                    ('by_clock', models.BooleanField(default=False)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('ended_at', models.DateTimeField(null=True)),
                    ('active', models.ForeignKey(help_text='Who proposed as it began', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='policies.policyrevision')),
                    ('requested_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('wheel', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='turns', to='flywheel.wheel')),
                    ('resumed_at', models.DateTimeField(help_text='When somebody last had it go on', null=True)),
                ],
                options={
                    'ordering': ('-created_at',),
                    'constraints': [models.UniqueConstraint(fields=('wheel', 'number'), name='turn_once'), models.UniqueConstraint(condition=models.Q(('state', 'running')), fields=('wheel',), name='turn_at_a_time')],
                },
            ),
            migrations.CreateModel(
                name='Sample',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('episode', models.UUIDField(db_index=True, help_text='No key: what is deleted leaves its name here')),
                    ('executable', models.BooleanField(null=True)),
                    ('duplicate_of', models.UUIDField(null=True)),
                    ('grounds', models.TextField(null=True)),
                    ('value', models.FloatField(null=True)),
                    ('valued_by', models.CharField(blank=True, max_length=8)),
                    ('contested', models.BooleanField(default=False)),
                    ('route', models.CharField(blank=True, max_length=4)),
                    ('reason', models.CharField(blank=True, max_length=16)),
                    ('turn', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='samples', to='flywheel.turn')),
                    ('wheel', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='samples', to='flywheel.wheel')),
                ],
                options={
                    'ordering': ('id',),
                    'indexes': [models.Index(fields=['turn', 'route'], name='sample_route')],
                    'constraints': [models.UniqueConstraint(fields=('wheel', 'episode'), name='sample_once')],
                },
            ),
            migrations.CreateModel(
                name='Checkpoint',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('phase', models.CharField(max_length=3)),
                    ('path', models.CharField(max_length=500)),
                    ('sha256', models.CharField(help_text='Of the names and contents of its weights', max_length=64)),
                    ('begun_with', models.CharField(max_length=500)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('parent', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='children', to='flywheel.checkpoint')),
                    ('revision', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='policies.policyrevision')),
                    ('turn', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='checkpoints', to='flywheel.turn')),
                ],
                options={
                    'ordering': ('id',),
                    'constraints': [models.UniqueConstraint(fields=('turn', 'phase'), name='checkpoint_once')],
                },
            ),
            migrations.CreateModel(
                name='Use',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('source', models.CharField(max_length=7)),
                    ('checkpoint', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='uses', to='flywheel.checkpoint')),
                    ('sample', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='uses', to='flywheel.sample')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('checkpoint', 'sample'), name='use_once')],
                },
            ),
            migrations.CreateModel(
                name='Stage',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=10)),
                    ('state', models.CharField(choices=[('begun', 'Begun'), ('done', 'Done'), ('failed', 'Failed')], default='begun', max_length=6)),
                    ('tries', models.PositiveSmallIntegerField(default=1)),
                    ('result', models.JSONField(default=dict)),
                    ('code', models.CharField(blank=True, max_length=64)),
                    ('error', models.TextField(blank=True)),
                    ('began_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('ended_at', models.DateTimeField(null=True)),
                    ('turn', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='stages', to='flywheel.turn')),
                    ('stumbles', models.PositiveSmallIntegerField(default=0, help_text='Tries that an error nobody foresaw ended, since somebody last had the turn go on')),
                ],
                options={
                    'ordering': ('id',),
                    'constraints': [models.UniqueConstraint(fields=('turn', 'name'), name='stage_once')],
                },
            ),
            migrations.CreateModel(
                name='Played',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(max_length=400)),
                    ('succeeded', models.PositiveIntegerField()),
                    ('attempts', models.PositiveIntegerField()),
                    ('chosen', models.BooleanField()),
                    ('turn', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='played', to='flywheel.turn')),
                ],
                options={
                    'ordering': ('kind',),
                    'constraints': [models.UniqueConstraint(fields=('turn', 'kind'), name='played_once')],
                },
            ),
        ]),
    ]
