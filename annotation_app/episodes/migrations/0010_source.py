import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('episodes', '0009_emptied'),
    ]

    operations = [
        migrations.CreateModel(
            name='Source',
            fields=[
                ('episode', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='source', serialize=False, to='episodes.episode')),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('arrival', models.UUIDField(db_index=True, help_text='The import it came with')),
                ('head', models.TextField()),
            ],
        ),
        migrations.AlterField(
            model_name='episode',
            name='created_at',
            field=models.DateTimeField(default=django.utils.timezone.now, editable=False),
        ),
        migrations.AlterField(
            model_name='proposal',
            name='created_at',
            field=models.DateTimeField(default=django.utils.timezone.now, editable=False),
        ),
        migrations.AlterField(
            model_name='step',
            name='created_at',
            field=models.DateTimeField(default=django.utils.timezone.now, editable=False),
        ),
    ]
