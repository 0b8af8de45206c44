import django.contrib.postgres.indexes
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('episodes', '0017_withdrawal'),
    ]

    operations = [
        migrations.CreateModel(
            name='PreparedRequest',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('runner_token', models.PositiveIntegerField()),
                ('outcome', models.CharField(default='open', help_text='open, used or discarded', max_length=9)),
                ('seconds', models.FloatField(help_text='How long the request ran', null=True)),
                ('input_tokens', models.PositiveIntegerField(help_text='Of the prompt, where the server said how many', null=True)),
                ('output_tokens', models.PositiveIntegerField(help_text='Of the replies', null=True)),
                ('started_at', models.DateTimeField()),
                ('episode', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='prepared_requests', to='episodes.episode')),
            ],
            options={
                'indexes': [django.contrib.postgres.indexes.BrinIndex(fields=['started_at'], name='prepared_request_when')],
            },
        ),
    ]
