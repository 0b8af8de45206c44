import django.contrib.postgres.indexes
import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models

from annotation_app.migration_operations import OperationBatch

REFUSE_CHANGE = """
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
"""
NEVER_CHANGED = ("episodes_step", "blobs_blob", "audit_auditentry", "episodes_undoing")
UNUSED_INDEXES = (
    "episodes_step_command_id_2cfcb82b_like",
    "episodes_command_command_id_9a732b9a_like",
    "episodes_episodeblob_blob_id_c604a8dd_like",
)
"""Django adds an index for patterns to each indexed text; no query searches these by a pattern."""


def _trigger(table):
    return migrations.RunSQL(
        f"CREATE TRIGGER never_changed BEFORE UPDATE OR DELETE ON {table} "
        "FOR EACH ROW EXECUTE FUNCTION refuse_change();",
        f"DROP TRIGGER never_changed ON {table};",
    )


class Migration(migrations.Migration):

    replaces = [('episodes', '0001_initial'), ('episodes', '0002_immutable'), ('episodes', '0003_undoing'), ('episodes', '0004_step_refused'), ('episodes', '0005_figures'), ('episodes', '0006_figures_fill'), ('episodes', '0007_rejected'), ('episodes', '0008_branches'), ('episodes', '0009_emptied'), ('episodes', '0010_source'), ('episodes', '0011_catalogued'), ('episodes', '0012_fewer_indexes')]

    initial = True

    dependencies = [
        ('audit', '0001_initial'),
        ('blobs', '0001_initial'),
        ('policies', '0005_memory_in_tokens'),
        ('tasks', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        OperationBatch([
            migrations.CreateModel(
                name='Command',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('command_id', models.CharField(max_length=64, unique=True)),
                    ('digest', models.CharField(max_length=64)),
                    ('note', models.TextField(blank=True)),
                    ('intent', models.TextField(blank=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('episode', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='commands', to='episodes.episode')),
                ],
            ),
            migrations.CreateModel(
                name='Episode',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('version', models.PositiveIntegerField(default=0)),
                    ('status', models.CharField(default='warming', max_length=8)),
                    ('outcome', models.CharField(blank=True, default='', max_length=12)),
                    ('help_requested', models.BooleanField(default=False)),
                    ('desk', models.TextField()),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('finished_at', models.DateTimeField(null=True)),
                    ('review', models.CharField(choices=[('pending', 'Pending'), ('accepted', 'Accepted'), ('returned', 'Returned'), ('rejected', 'Rejected')], default='pending', max_length=8)),
                    ('review_reason', models.TextField(blank=True)),
                    ('reviewed_at', models.DateTimeField(null=True)),
                    ('runner', models.CharField(blank=True, max_length=200)),
                    ('runner_token', models.PositiveIntegerField(default=0)),
                    ('runner_until', models.DateTimeField(null=True)),
                    ('attended', models.BooleanField(default=False)),
                    ('machine', models.TextField(blank=True)),
                    ('annotator', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='episodes', to=settings.AUTH_USER_MODEL)),
                    ('assignment', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='episode', to='tasks.assignment')),
                    ('pending', models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='episodes.command')),
                    ('policy', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='episodes', to='policies.policyrevision')),
                    ('reviewer', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('task', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='episodes', to='tasks.task')),
                    ('emptied_at', models.DateTimeField(help_text='When a rule of retention deleted its pictures', null=True)),
                    ('catalogued', models.IntegerField(default=-1, editable=False, help_text='The version the catalogue shows; -1: none')),
                ],
                options={
                    'ordering': ('-created_at', 'id'),
                    'indexes': [models.Index(fields=['annotator', 'status', '-created_at'], name='episode_mine'), models.Index(fields=['review', 'status'], name='episode_review'), models.Index(fields=['runner'], name='episode_runner'), models.Index(condition=models.Q(('status', 'finished')), fields=['finished_at', 'id'], name='episode_ready'), models.Index(condition=models.Q(('status', 'finished')), fields=['reviewed_at', 'id'], name='episode_decided'), models.Index(condition=models.Q(('status__in', ('finished', 'left')), models.Q(('catalogued', models.F('version')), _negated=True)), fields=['finished_at'], name='episode_uncatalogued')],
                },
            ),
            migrations.CreateModel(
                name='EpisodeBlob',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('blob', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='blobs.blob')),
                    ('episode', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='blobs', to='episodes.episode')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('episode', 'blob'), name='episode_blob_once')],
                },
            ),
            migrations.CreateModel(
                name='Proposal',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(help_text="The proposal's id on the wire", max_length=64)),
                    ('index', models.PositiveIntegerField(help_text='The step it was offered for')),
                    ('policy', models.CharField(max_length=130)),
                    ('open', models.BooleanField(default=True)),
                    ('mark', models.CharField(blank=True, max_length=16)),
                    ('document', models.TextField()),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('episode', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='proposals', to='episodes.episode')),
                    ('latency_ms', models.FloatField(help_text='From the question to the last token', null=True)),
                ],
                options={
                    'ordering': ('id',),
                    'indexes': [models.Index(fields=['episode', 'index'], name='proposal_step'), django.contrib.postgres.indexes.BrinIndex(fields=['created_at'], name='proposal_when')],
                    'constraints': [models.UniqueConstraint(fields=('episode', 'key'), name='proposal_once')],
                },
            ),
            migrations.CreateModel(
                name='Step',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('index', models.PositiveIntegerField()),
                    ('command_id', models.CharField(max_length=64, unique=True)),
                    ('actor', models.CharField(max_length=8)),
                    ('decision', models.CharField(max_length=8)),
                    ('document', models.TextField()),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('episode', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='steps', to='episodes.episode')),
                    ('decide_ms', models.FloatField(help_text='From the proposals being on screen to the command', null=True)),
                    ('policy', models.CharField(blank=True, help_text='Whose proposals were there, as in Proposal.policy', max_length=130)),
                    ('took_ms', models.FloatField(help_text="From the act's start to the screen after it", null=True)),
                ],
                options={
                    'ordering': ('index',),
                    'indexes': [models.Index(condition=models.Q(('decision__in', ('override', 'takeover'))), fields=['-id'], name='step_refused'), django.contrib.postgres.indexes.BrinIndex(fields=['created_at'], name='step_when')],
                    'constraints': [models.UniqueConstraint(fields=('episode', 'index'), name='step_once')],
                },
            ),
            migrations.CreateModel(
                name='Undoing',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('step', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='undoing', to='episodes.step')),
                ],
            ),
            migrations.CreateModel(
                name='Branch',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('steps', models.PositiveIntegerField()),
                    ('open', models.BooleanField(default=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('episode', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='branches', to='episodes.episode')),
                ],
                options={
                    'ordering': ('id',),
                    'constraints': [models.UniqueConstraint(fields=('episode', 'steps'), name='branch_once')],
                },
            ),
            migrations.CreateModel(
                name='Source',
                fields=[
                    ('episode', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='source', serialize=False, to='episodes.episode')),
                    ('digest', models.CharField(max_length=64, unique=True)),
                    ('arrival', models.UUIDField(db_index=True, help_text='The import it came with')),
                    ('head', models.TextField()),
                ],
            ),
        ]),
        migrations.RunSQL(REFUSE_CHANGE, "DROP FUNCTION refuse_change();"),
        *(_trigger(table) for table in NEVER_CHANGED),
        *(migrations.RunSQL(f'DROP INDEX "{name}";', migrations.RunSQL.noop) for name in UNUSED_INDEXES),
    ]
