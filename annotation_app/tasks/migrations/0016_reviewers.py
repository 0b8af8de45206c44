import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tasks', '0015_thought_later'),
    ]

    operations = [
        migrations.AddField(
            model_name='pool',
            name='reviewers',
            field=models.PositiveSmallIntegerField(default=1, help_text='With two, both review an episode blind to each other, and a third decides where they disagree', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(2)]),
        ),
    ]
