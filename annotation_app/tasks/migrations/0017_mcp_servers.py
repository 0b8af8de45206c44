from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tasks', '0016_reviewers'),
    ]

    operations = [
        migrations.AddField(
            model_name='pool',
            name='mcp_servers',
            field=models.TextField(blank=True, editable=False, help_text='MCP servers of every task, by name', null=True),
        ),
    ]
