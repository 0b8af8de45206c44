import django.db.models.deletion
from django.db import migrations, models

from annotation_app.migration_operations import OperationBatch


class Migration(migrations.Migration):

    replaces = [('policies', '0001_initial'), ('policies', '0002_revisions'), ('policies', '0003_memory'), ('policies', '0004_evaluations'), ('policies', '0005_memory_in_tokens')]

    initial = True

    dependencies = [
    ]

    operations = [
        OperationBatch([
            migrations.CreateModel(
                name='PolicyRevision',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=64)),
                    ('revision', models.CharField(max_length=64)),
                    ('dialect', models.CharField(max_length=64)),
                    ('base_url', models.URLField(help_text='Root of the OpenAI-compatible API, ending in /v1', max_length=500)),
                    ('model', models.CharField(help_text='Name the server knows the model by', max_length=200)),
                    ('sampling', models.JSONField(blank=True, default=dict, help_text='temperature, top_p, max_tokens, …')),
                    ('scripted', models.BooleanField(default=False, help_text='No model: answers from a script, and is labelled so')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('checkpoint', models.CharField(blank=True, help_text='Where its weights lie, as the server was told; empty: not known', max_length=500)),
                    ('memory', models.JSONField(blank=True, default=dict, help_text='What it is reminded of: images, stride, tokens, working, episode, note_tokens')),
                    ('weight_version', models.CharField(blank=True, help_text='What its server calls these weights; empty: not known', max_length=200)),
                ],
                options={
                    'ordering': ('-id',),
                    'constraints': [models.UniqueConstraint(fields=('name', 'revision'), name='policy_revision_once')],
                },
            ),
            migrations.CreateModel(
                name='Evaluation',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('sha256', models.CharField(help_text='Of the report as canonical JSON', max_length=64)),
                    ('document', models.TextField()),
                    ('kinds', models.JSONField(default=dict)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('revision', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='evaluations', to='policies.policyrevision')),
                ],
                options={
                    'ordering': ('-id',),
                    'constraints': [models.UniqueConstraint(fields=('revision', 'sha256'), name='evaluation_once')],
                },
            ),
        ]),
    ]
