from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('episodes', '0015_mcp_servers'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='episode',
            index=models.Index(condition=models.Q(('status__in', ('warming', 'running', 'paused', 'failed'))), fields=['-help_requested', 'created_at'], name='episode_open'),
        ),
    ]
