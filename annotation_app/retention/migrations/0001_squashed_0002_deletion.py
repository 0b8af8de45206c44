import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

HEAD = """
CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
"""
MAY = """
    IF TG_OP = 'DELETE' AND TG_TABLE_NAME IN ('blobs_blob', 'audit_auditentry')
        AND current_setting('pilothouse.retention', true) = TG_TABLE_NAME THEN
        RETURN OLD;
    END IF;
"""
TAIL = """
    RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
"""


class Migration(migrations.Migration):

    replaces = [('retention', '0001_initial'), ('retention', '0002_deletion')]

    initial = True

    dependencies = [
        ('episodes', '0002_immutable'),
        ('tasks', '0008_search'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Rule',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('what', models.CharField(choices=[('practice', 'Practice'), ('left', 'Left'), ('unaccepted', 'Unaccepted'), ('recordings', 'Recordings'), ('exports', 'Exports'), ('audit', 'Audit')], max_length=10)),
                ('days', models.PositiveIntegerField(validators=[django.core.validators.MinValueValidator(1)])),
                ('active', models.BooleanField(default=False)),
                ('previewed_at', models.DateTimeField(null=True)),
                ('preview', models.JSONField(default=dict)),
                ('ran_at', models.DateTimeField(null=True)),
                ('removed', models.PositiveBigIntegerField(default=0, help_text='Episodes, recordings, exports or entries, in all')),
                ('freed', models.PositiveBigIntegerField(default=0, help_text='Bytes, in all')),
                ('error', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('pool', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tasks.pool')),
            ],
            options={
                'ordering': ('id',),
                'constraints': [models.UniqueConstraint(fields=('what', 'pool'), name='rule_once', nulls_distinct=False)],
            },
        ),
        migrations.RunSQL(HEAD + MAY + TAIL, HEAD + TAIL),
    ]
