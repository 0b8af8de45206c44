import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from annotation_app.migration_operations import OperationBatch


class Migration(migrations.Migration):

    replaces = [('tasks', '0001_initial'), ('tasks', '0002_record'), ('tasks', '0003_revisions'), ('tasks', '0004_need'), ('tasks', '0005_kinds')]

    initial = True

    dependencies = [
        ('policies', '0004_evaluations'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        OperationBatch([
            migrations.CreateModel(
                name='Pool',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=100, unique=True)),
                    ('description', models.TextField(blank=True)),
                    ('instructions', models.TextField(blank=True, help_text='Guidance for annotators (Markdown)')),
                    ('platform', models.CharField(choices=[('desktop', 'desktop'), ('phone', 'phone'), ('browser', 'browser'), ('terminal', 'terminal')], default='desktop', max_length=16)),
                    ('image', models.CharField(default='desktop', help_text='Which machine image the bridge starts', max_length=64)),
                    ('candidates', models.PositiveSmallIntegerField(default=3, help_text='Proposals asked for', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(16)])),
                    ('max_steps', models.PositiveSmallIntegerField(default=100, help_text='Most steps of any task of this pool', validators=[django.core.validators.MinValueValidator(1)])),
                    ('thought_required', models.BooleanField(default=True)),
                    ('screenshot_format', models.CharField(choices=[('jpeg', 'jpeg'), ('png', 'png')], default='jpeg', max_length=4)),
                    ('practice', models.BooleanField(default=False, help_text='Tasks stay available; nothing of it is exported')),
                    ('paused', models.BooleanField(default=False)),
                    ('lease_minutes', models.PositiveSmallIntegerField(default=30, help_text='An untouched task returns to the pool after this', validators=[django.core.validators.MinValueValidator(1)])),
                    ('pause_hours', models.PositiveSmallIntegerField(default=8, help_text='How long a paused episode is kept')),
                    ('members', models.ManyToManyField(blank=True, related_name='pools', to=settings.AUTH_USER_MODEL)),
                    ('policy', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='pools', to='policies.policyrevision')),
                    ('record', models.BooleanField(default=False, help_text='Keep a video of every episode')),
                    ('canary', models.ForeignKey(blank=True, help_text='A newer revision that a share of the episodes tries', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='tried_in', to='policies.policyrevision')),
                    ('canary_share', models.PositiveSmallIntegerField(default=0, help_text='Percent of the episodes that try it', validators=[django.core.validators.MaxValueValidator(100)])),
                    ('gate', models.TextField(blank=True, editable=False, help_text='What an evaluation must show', null=True)),
                    ('sampling', models.CharField(choices=[('in_order', 'In Order'), ('by_need', 'By Need')], default='in_order', help_text='by_need: towards tasks where the active revision is overridden or fails', max_length=8)),
                ],
                options={
                    'ordering': ('id',),
                },
            ),
            migrations.CreateModel(
                name='Task',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(help_text="The definition's id, unique in its pool", max_length=200)),
                    ('definition', models.TextField()),
                    ('state', models.CharField(choices=[('waiting', 'Waiting'), ('claimed', 'Claimed'), ('done', 'Done'), ('broken', 'Broken')], default='waiting', max_length=8)),
                    ('position', models.IntegerField(default=0, help_text='Lower comes first')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('pool', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='tasks', to='tasks.pool')),
                    ('done', models.PositiveIntegerField(default=0, help_text='How often it was done')),
                    ('kind', models.CharField(default='', help_text='What tasks with other seeds have in common', max_length=400)),
                    ('reopened_at', models.DateTimeField(help_text='Since when it is to be done again, by anybody', null=True)),
                ],
                options={
                    'ordering': ('position', 'id'),
                    'indexes': [models.Index(fields=['pool', 'state', 'position', 'id'], name='task_next')],
                    'constraints': [models.UniqueConstraint(fields=('pool', 'key'), name='task_once_in_pool')],
                },
            ),
            migrations.CreateModel(
                name='Assignment',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('state', models.CharField(choices=[('active', 'Active'), ('returned', 'Returned'), ('done', 'Done'), ('skipped', 'Skipped'), ('released', 'Released'), ('expired', 'Expired'), ('broken', 'Broken')], default='active', max_length=8)),
                    ('expires_at', models.DateTimeField()),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('annotator', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to=settings.AUTH_USER_MODEL)),
                    ('task', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='tasks.task')),
                ],
                options={
                    'indexes': [models.Index(fields=['state', 'expires_at'], name='assignment_expiry')],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('state__in', ('active', 'returned'))), fields=('task',), name='task_held_once')],
                },
            ),
            migrations.CreateModel(
                name='Tally',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(max_length=400)),
                    ('accepted', models.PositiveIntegerField(default=0)),
                    ('overridden', models.PositiveIntegerField(default=0)),
                    ('succeeded', models.PositiveIntegerField(default=0)),
                    ('failed', models.PositiveIntegerField(default=0)),
                    ('pool', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='tallies', to='tasks.pool')),
                    ('revision', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='tallies', to='policies.policyrevision')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('pool', 'revision', 'kind'), name='tally_once')],
                },
            ),
        ]),
    ]
