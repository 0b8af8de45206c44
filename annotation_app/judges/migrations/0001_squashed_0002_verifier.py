import django.core.validators
import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models

from annotation_app.migration_operations import OperationBatch


def create_verifier(apps, schema_editor):
    """Every installation has the judge that needs no model."""
    apps.get_model("judges", "Judge").objects.get_or_create(name="verifier", revision="1", defaults={"kind": "verifier"})


class Migration(migrations.Migration):

    replaces = [('judges', '0001_initial'), ('judges', '0002_verifier')]

    initial = True

    dependencies = [
        ('episodes', '0003_undoing'),
        ('tasks', '0003_revisions'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        OperationBatch([
            migrations.CreateModel(
                name='Judge',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(choices=[('verifier', 'Verifier'), ('outcome_model', 'Outcome Model'), ('reference', 'Reference')], max_length=16)),
                    ('name', models.CharField(max_length=64)),
                    ('revision', models.CharField(max_length=64)),
                    ('base_url', models.URLField(blank=True, help_text='Root of the OpenAI-compatible API, ending in /v1; a verifier has none', max_length=500)),
                    ('model', models.CharField(blank=True, help_text='Name the server knows the model by', max_length=200)),
                    ('settings', models.JSONField(blank=True, default=dict, help_text='votes, combine (mean, majority, unanimous), temperature, max_tokens, …')),
                    ('scripted', models.BooleanField(default=False, help_text='No model: answers from a script, and is labelled so')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                ],
                options={
                    'ordering': ('-id',),
                    'constraints': [models.UniqueConstraint(fields=('name', 'revision'), name='judge_once')],
                },
            ),
            migrations.CreateModel(
                name='Judgement',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('score', models.FloatField(null=True, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1)])),
                    ('document', models.TextField()),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('episode', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='judgements', to='episodes.episode')),
                    ('judge', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='judgements', to='judges.judge')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('episode', 'judge'), name='judgement_once')],
                },
            ),
            migrations.CreateModel(
                name='PoolJudge',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('threshold', models.FloatField(default=0.5, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1)])),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('judge', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='pools', to='judges.judge')),
                    ('pool', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='judges', to='tasks.pool')),
                ],
                options={
                    'ordering': ('pool__name', '-judge_id'),
                    'constraints': [models.UniqueConstraint(fields=('pool', 'judge'), name='pool_judge_once')],
                },
            ),
            migrations.CreateModel(
                name='Run',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('status', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('cancelled', 'Cancelled'), ('failed', 'Failed')], default='queued', max_length=9)),
                    ('total', models.PositiveIntegerField(default=0, help_text='Episodes there were to judge')),
                    ('judged', models.PositiveIntegerField(default=0)),
                    ('refused', models.PositiveIntegerField(default=0, help_text="Episodes the model's server would not have")),
                    ('error', models.TextField(blank=True)),
                    ('attempts', models.PositiveSmallIntegerField(default=0, help_text='How often a worker began it')),
                    ('heard_at', models.DateTimeField(default=django.utils.timezone.now, help_text='When it was queued, or its worker got further')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('finished_at', models.DateTimeField(null=True)),
                    ('judge', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='judges.judge')),
                    ('pool', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tasks.pool')),
                    ('requested_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ('-created_at',),
                    'constraints': [models.UniqueConstraint(condition=models.Q(('status__in', ('queued', 'running'))), fields=('pool', 'judge'), name='judge_run_at_a_time')],
                },
            ),
        ]),
        migrations.RunPython(create_verifier, migrations.RunPython.noop),
    ]
