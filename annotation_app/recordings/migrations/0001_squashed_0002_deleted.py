import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [('recordings', '0001_initial'), ('recordings', '0002_deleted')]

    initial = True

    dependencies = [
        ('episodes', '0002_immutable'),
    ]

    operations = [
        migrations.CreateModel(
            name='Recording',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(help_text='Its id at the bridge', max_length=64, unique=True)),
                ('host_url', models.CharField(help_text='The bridge that holds it', max_length=400)),
                ('state', models.CharField(choices=[('at_bridge', 'At Bridge'), ('stored', 'Stored'), ('lost', 'Lost'), ('deleted', 'Deleted')], default='at_bridge', max_length=9)),
                ('parts', models.TextField(default=())),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('episode', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='recordings', to='episodes.episode')),
            ],
            options={
                'ordering': ('created_at', 'id'),
                'indexes': [models.Index(fields=['state'], name='recording_state')],
            },
        ),
    ]
