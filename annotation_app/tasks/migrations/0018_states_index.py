from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tasks', '0017_mcp_servers'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='task',
            index=models.Index(fields=['pool', 'state'], name='task_states'),
        ),
    ]
