from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('episodes', '0014_supervisor_notes'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='episode',
            index=models.Index(condition=models.Q(('status__in', ('warming', 'running', 'paused', 'failed'))), fields=['-help_requested', 'created_at'], name='episode_open'),
        ),
    ]
