import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from annotation_app.migration_operations import OperationBatch


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        OperationBatch(
            [
                migrations.AddField(
                    model_name="auditentry",
                    name="source",
                    field=models.CharField(db_default="", default="", max_length=80),
                ),
                migrations.AlterField(
                    model_name="auditentry",
                    name="subject",
                    field=models.CharField(max_length=128),
                ),
                migrations.AlterField(
                    model_name="auditentry",
                    name="actor",
                    field=models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                migrations.AddIndex(
                    model_name="auditentry",
                    index=models.Index(fields=["actor", "-id"], name="audit_actor"),
                ),
                migrations.AddIndex(
                    model_name="auditentry",
                    index=models.Index(fields=["verb", "-id"], name="audit_verb"),
                ),
                migrations.AddIndex(
                    model_name="auditentry",
                    index=models.Index(fields=["subject", "-id"], name="audit_subject"),
                ),
                migrations.AddIndex(
                    model_name="auditentry",
                    index=models.Index(
                        models.Func(
                            models.F("subject"),
                            models.Value(":"),
                            models.Value(1),
                            function="split_part",
                            output_field=models.CharField(),
                        ),
                        models.OrderBy(models.F("id"), descending=True),
                        name="audit_kind",
                    ),
                ),
            ]
        )
    ]
