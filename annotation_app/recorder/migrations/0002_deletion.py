"""The steps of one episode may be deleted in a transaction that names it: who recorded it deletes it."""

from django.db import migrations

HEAD = """
CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
"""
RETENTION = """
    IF TG_OP = 'DELETE' AND TG_TABLE_NAME IN ('blobs_blob', 'audit_auditentry')
        AND current_setting('pilothouse.retention', true) = TG_TABLE_NAME THEN
        RETURN OLD;
    END IF;
"""
REDACTION = """
    IF TG_OP = 'UPDATE' AND TG_TABLE_NAME = 'episodes_step'
        AND current_setting('pilothouse.redaction', true) = TG_TABLE_NAME
        AND to_jsonb(NEW) - 'document' = to_jsonb(OLD) - 'document' THEN
        RETURN NEW;
    END IF;
"""
RECORDING = """
    IF TG_OP = 'DELETE' AND TG_TABLE_NAME = 'episodes_step'
        AND current_setting('pilothouse.deleted_recording', true) = to_jsonb(OLD) ->> 'episode_id' THEN
        RETURN OLD;
    END IF;
"""
TAIL = """
    RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("recorder", "0001_initial"),
        ("retention", "0003_redaction"),
        ("episodes", "0017_withdrawal"),
    ]

    operations = [migrations.RunSQL(HEAD + RETENTION + REDACTION + RECORDING + TAIL, HEAD + RETENTION + REDACTION + TAIL)]
