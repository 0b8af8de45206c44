"""The document of a step may be changed by a redaction, and by nothing else."""

from django.db import migrations

HEAD = """
CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND TG_TABLE_NAME IN ('blobs_blob', 'audit_auditentry')
        AND current_setting('pilothouse.retention', true) = TG_TABLE_NAME THEN
        RETURN OLD;
    END IF;
"""
MAY = """
    IF TG_OP = 'UPDATE' AND TG_TABLE_NAME = 'episodes_step'
        AND current_setting('pilothouse.redaction', true) = TG_TABLE_NAME
        AND to_jsonb(NEW) - 'document' = to_jsonb(OLD) - 'document' THEN
        RETURN NEW;
    END IF;
"""
TAIL = """
    RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("retention", "0002_deletion")]

    operations = [migrations.RunSQL(HEAD + MAY + TAIL, HEAD + TAIL)]
