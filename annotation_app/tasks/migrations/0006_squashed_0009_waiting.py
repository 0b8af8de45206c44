"""What pools and tasks gained after episodes existed. A task may name an episode and each episode has a task, so this
cannot join `0001_squashed_0005_kinds`.

A database with tasks may run this file: the counts that `0007_counts` filled in are filled in here too.
"""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from annotation_app.migration_operations import OperationBatch

FILL_COUNTS = """
UPDATE tasks_task SET held = 1 WHERE state = 'claimed';
UPDATE tasks_task SET finished = 1 WHERE state = 'done';
"""


class Migration(migrations.Migration):

    replaces = [('tasks', '0006_pools'), ('tasks', '0007_counts'), ('tasks', '0008_search'), ('tasks', '0009_waiting')]

    dependencies = [
        ('accounts', '0003_groups'),
        ('episodes', '0008_branches'),
        ('tasks', '0005_kinds'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        OperationBatch([
            migrations.CreateModel(
                name='Consent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('version', models.PositiveIntegerField()),
                    ('text', models.TextField(help_text='What they were shown')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('annotator', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='consents', to=settings.AUTH_USER_MODEL)),
                    ('pool', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='consents', to='tasks.pool')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('pool', 'annotator', 'version'), name='consent_once')],
                },
            ),
            migrations.CreateModel(
                name='Credential',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=64)),
                    ('sealed', models.TextField(editable=False)),
                    ('changed_at', models.DateTimeField(auto_now=True)),
                    ('pool', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='credentials', to='tasks.pool')),
                ],
                options={
                    'ordering': ('name',),
                    'constraints': [models.UniqueConstraint(fields=('pool', 'name'), name='credential_once')],
                },
            ),
            migrations.RemoveIndex(
                model_name='task',
                name='task_next',
            ),
            migrations.AlterField(
                model_name='task',
                name='pool',
                field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='tasks', to='tasks.pool'),
            ),
            migrations.RemoveConstraint(
                model_name='assignment',
                name='task_held_once',
            ),
            migrations.AddField(
                model_name='pool',
                name='consent',
                field=models.TextField(blank=True, help_text='What people agree to before their first task (Markdown)'),
            ),
            migrations.AddField(
                model_name='pool',
                name='consent_version',
                field=models.PositiveIntegerField(default=1, editable=False),
            ),
            migrations.AddField(
                model_name='pool',
                name='gold_percent',
                field=models.PositiveSmallIntegerField(default=0, help_text='Share of claims that get a task with a known answer', validators=[django.core.validators.MaxValueValidator(100)]),
            ),
            migrations.AddField(
                model_name='pool',
                name='groups',
                field=models.ManyToManyField(blank=True, related_name='pools', to='accounts.group'),
            ),
            migrations.AddField(
                model_name='pool',
                name='hours',
                field=models.TextField(blank=True, editable=False, help_text='When tasks are given out; always where null', null=True),
            ),
            migrations.AddField(
                model_name='pool',
                name='minutes',
                field=models.PositiveSmallIntegerField(blank=True, help_text='Longest time from claiming a task to its end, pauses included', null=True, validators=[django.core.validators.MinValueValidator(1)]),
            ),
            migrations.AddField(
                model_name='pool',
                name='open_to_all',
                field=models.BooleanField(default=False, help_text='Every annotator may take its tasks, first come'),
            ),
            migrations.AddField(
                model_name='pool',
                name='overlap',
                field=models.PositiveSmallIntegerField(default=1, help_text='How many people do each task, blind to one another', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(20)]),
            ),
            migrations.AddField(
                model_name='pool',
                name='priority',
                field=models.SmallIntegerField(default=0, help_text='Tasks of a pool with a higher one come first'),
            ),
            migrations.AddField(
                model_name='pool',
                name='review_mode',
                field=models.CharField(choices=[('none', 'None'), ('sample', 'Sample'), ('all', 'All')], default='all', max_length=6),
            ),
            migrations.AddField(
                model_name='pool',
                name='review_percent',
                field=models.PositiveSmallIntegerField(default=10, help_text='Share that is reviewed in the mode sample', validators=[django.core.validators.MaxValueValidator(100)]),
            ),
            migrations.AddField(
                model_name='pool',
                name='skills',
                field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=32), blank=True, default=list, help_text='Who has all of these may take its tasks', size=None),
            ),
            migrations.AddField(
                model_name='pool',
                name='stop_reason',
                field=models.CharField(blank=True, editable=False, max_length=500),
            ),
            migrations.AddField(
                model_name='pool',
                name='stopped_at',
                field=models.DateTimeField(blank=True, editable=False, help_text='Nobody acts in it since', null=True),
            ),
            migrations.AddField(
                model_name='pool',
                name='version',
                field=models.PositiveIntegerField(default=1, editable=False),
            ),
            migrations.AddField(
                model_name='task',
                name='finished',
                field=models.PositiveSmallIntegerField(default=0, help_text='How many people have done it in this round'),
            ),
            migrations.AddField(
                model_name='task',
                name='gold',
                field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='gold_of', to='episodes.episode'),
            ),
            migrations.AddField(
                model_name='task',
                name='held',
                field=models.PositiveSmallIntegerField(default=0, help_text='How many people hold it'),
            ),
            migrations.AddIndex(
                model_name='task',
                index=models.Index(fields=['pool', 'position', 'id'], name='task_listed'),
            ),
            migrations.AddIndex(
                model_name='task',
                index=models.Index(condition=models.Q(('gold__isnull', False)), fields=['pool'], name='task_gold'),
            ),
            migrations.AddConstraint(
                model_name='assignment',
                constraint=models.UniqueConstraint(condition=models.Q(('state__in', ('active', 'returned'))), fields=('task', 'annotator'), name='task_held_once_each'),
            ),
            migrations.AddIndex(
                model_name='task',
                index=django.contrib.postgres.indexes.GinIndex(django.contrib.postgres.search.SearchVector('definition', config='simple'), name='task_words'),
            ),
            migrations.AddIndex(
                model_name='task',
                index=models.Index(condition=models.Q(('state', 'waiting')), fields=['pool', 'position', 'id'], name='task_waiting'),
            ),
        ]),
        migrations.RunSQL(FILL_COUNTS, migrations.RunSQL.noop),
    ]
