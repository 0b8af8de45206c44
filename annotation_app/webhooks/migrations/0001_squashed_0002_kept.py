import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
import uuid
from django.db import migrations, models

from annotation_app.migration_operations import OperationBatch


class Migration(migrations.Migration):

    replaces = [('webhooks', '0001_tables'), ('webhooks', '0002_kept')]

    initial = True

    dependencies = [
    ]

    operations = [
        OperationBatch([
            migrations.CreateModel(
                name='Webhook',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('url', models.CharField(max_length=500)),
                    ('events', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=32), size=None)),
                    ('secret', models.TextField(editable=False)),
                    ('enabled', models.BooleanField(default=True)),
                    ('refusals', models.PositiveIntegerField(default=0, help_text='Attempts that failed, one after the other')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                ],
                options={
                    'ordering': ('id',),
                },
            ),
            migrations.CreateModel(
                name='Delivery',
                fields=[
                    ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                    ('event', models.CharField(max_length=32)),
                    ('body', models.TextField()),
                    ('state', models.CharField(choices=[('pending', 'Pending'), ('delivered', 'Delivered'), ('failed', 'Failed')], default='pending', max_length=9)),
                    ('attempts', models.PositiveSmallIntegerField(default=0)),
                    ('next_at', models.DateTimeField(default=django.utils.timezone.now, help_text='When it is tried next')),
                    ('status', models.PositiveSmallIntegerField(help_text='What the last attempt was answered', null=True)),
                    ('error', models.CharField(blank=True, max_length=200)),
                    ('took_ms', models.FloatField(null=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('ended_at', models.DateTimeField(null=True)),
                    ('webhook', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='webhooks.webhook')),
                ],
                options={
                    'verbose_name_plural': 'deliveries',
                    'ordering': ('-created_at', '-id'),
                    'indexes': [models.Index(condition=models.Q(('state', 'pending')), fields=['next_at'], name='delivery_due'), models.Index(fields=['webhook', '-created_at', '-id'], name='delivery_newest'), models.Index(fields=['created_at'], name='delivery_kept')],
                },
            ),
        ]),
    ]
