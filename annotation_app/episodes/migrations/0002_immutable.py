"""Stored steps cannot be changed, whoever asks."""

from django.db import migrations

FUNCTION = """
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
"""
TABLES = ("episodes_step", "blobs_blob", "audit_auditentry")


def _trigger(table):
    return migrations.RunSQL(
        f"CREATE TRIGGER never_changed BEFORE UPDATE OR DELETE ON {table} "
        "FOR EACH ROW EXECUTE FUNCTION refuse_change();",
        f"DROP TRIGGER never_changed ON {table};",
    )


class Migration(migrations.Migration):
    dependencies = [("episodes", "0001_initial"), ("blobs", "0001_initial"), ("audit", "0001_initial")]

    operations = [
        migrations.RunSQL(FUNCTION, "DROP FUNCTION refuse_change();"),
        *(_trigger(table) for table in TABLES),
    ]
