"""Checkpoints of specialists, one for each pool, and what they are merged to."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('flywheel', '0003_resumed'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='checkpoint',
            name='checkpoint_once',
        ),
        migrations.AddField(
            model_name='checkpoint',
            name='domain',
            field=models.CharField(blank=True, default='', help_text='The pool of a specialist, by name', max_length=100),
        ),
        migrations.AddField(
            model_name='checkpoint',
            name='parts',
            field=models.ManyToManyField(help_text='The specialists it was merged of', related_name='merged_in', to='flywheel.checkpoint'),
        ),
        migrations.AlterField(
            model_name='checkpoint',
            name='phase',
            field=models.CharField(max_length=5),
        ),
        migrations.AddConstraint(
            model_name='checkpoint',
            constraint=models.UniqueConstraint(fields=('turn', 'phase', 'domain'), name='checkpoint_once'),
        ),
    ]
