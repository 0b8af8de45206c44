from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('episodes', '0014_supervisor_notes'),
    ]

    operations = [
        migrations.AddField(
            model_name='episode',
            name='mcp_servers',
            field=models.TextField(editable=False, help_text='Those of the pool when the episode began', null=True),
        ),
    ]
