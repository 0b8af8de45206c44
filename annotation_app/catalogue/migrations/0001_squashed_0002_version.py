import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from annotation_app.migration_operations import OperationBatch


class Migration(migrations.Migration):

    replaces = [('catalogue', '0001_initial'), ('catalogue', '0002_version')]

    initial = True

    dependencies = [
        ('episodes', '0011_catalogued'),
        ('tasks', '0007_counts'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        OperationBatch([
            migrations.CreateModel(
                name='Entry',
                fields=[
                    ('episode', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='entry', serialize=False, to='episodes.episode')),
                    ('kind', models.CharField(help_text='The kind of its task, by which it is split', max_length=400)),
                    ('words', django.contrib.postgres.search.SearchVectorField()),
                    ('decisions', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=8), default=list, size=None)),
                    ('policies', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=130), default=list, size=None)),
                    ('applications', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=100), default=list, size=None)),
                    ('steps', models.PositiveIntegerField(default=0)),
                    ('reward', models.FloatField(null=True)),
                    ('created_at', models.DateTimeField()),
                    ('pool', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tasks.pool')),
                ],
                options={
                    'indexes': [django.contrib.postgres.indexes.GinIndex(fields=['words'], name='entry_words'), django.contrib.postgres.indexes.GinIndex(fields=['decisions'], name='entry_decisions'), django.contrib.postgres.indexes.GinIndex(fields=['policies'], name='entry_policies'), django.contrib.postgres.indexes.GinIndex(fields=['applications'], name='entry_applications'), models.Index(fields=['-created_at', '-episode'], name='entry_newest'), models.Index(fields=['pool', '-created_at', '-episode'], name='entry_pool')],
                },
            ),
            migrations.CreateModel(
                name='SavedQuery',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=100)),
                    ('query', models.JSONField(default=dict)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='queries', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ('name', 'id'),
                    'constraints': [models.UniqueConstraint(fields=('owner', 'name'), name='query_once')],
                },
            ),
        ]),
    ]
