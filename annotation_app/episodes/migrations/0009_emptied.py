from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("episodes", "0008_branches")]

    operations = [
        migrations.AddField(
            model_name="episode",
            name="emptied_at",
            field=models.DateTimeField(help_text="When a rule of retention deleted its pictures", null=True),
        ),
    ]
