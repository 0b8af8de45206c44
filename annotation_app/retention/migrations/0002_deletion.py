"""Rows that are never changed may be deleted by retention, which says so in its transaction; steps not even by it."""

from django.db import migrations

HEAD = """
CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
"""
MAY = """
    IF TG_OP = 'DELETE' AND TG_TABLE_NAME IN ('blobs_blob', 'audit_auditentry')
        AND current_setting('pilothouse.retention', true) = TG_TABLE_NAME THEN
        RETURN OLD;
    END IF;
"""
TAIL = """
    RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("retention", "0001_initial"), ("episodes", "0002_immutable")]

    operations = [migrations.RunSQL(HEAD + MAY + TAIL, HEAD + TAIL)]
