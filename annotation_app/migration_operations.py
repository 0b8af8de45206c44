"""Migration operations: several models in one batch, and tables that an earlier app may have created."""

from collections.abc import Sequence

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations import CreateModel
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState


class OperationBatch(Operation):
    """Runs several operations on models of one app and renders the project state once.

    Django renders all related models for every operation, which is most of the cost of a migration.

    Each operation sees the state before the first and after the last of them, so none may build on another. Put the
    fields, indexes and constraints of a new model into its `CreateModel`, including a foreign key to a later model.
    Put an `AlterField` that drops an index before an `AddIndex` of the same field, because it would drop that index
    too.
    Indexes and foreign keys exist when the batch ends, before the migration ends.
    """

    def __init__(self, operations: Sequence[Operation]) -> None:
        self.operations = operations

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        rendered = state.__dict__.pop("apps", None)
        for operation in self.operations:
            operation.state_forwards(app_label, state)
        if rendered is not None:
            state.__dict__["apps"] = rendered
            names = {_model_name(operation) for operation in self.operations}
            state.reload_models([(app_label, name) for name in names], delay=False)

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        for operation in self.operations:
            operation.database_forwards(app_label, schema_editor, from_state, to_state)
        for statement in schema_editor.deferred_sql:
            schema_editor.execute(statement, None)
        schema_editor.deferred_sql.clear()

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        for operation in reversed(self.operations):
            operation.database_backwards(app_label, schema_editor, from_state, to_state)

    def describe(self) -> str:
        return "; ".join(operation.describe() for operation in self.operations)


def _model_name(operation: Operation) -> str:
    name: str = getattr(operation, "model_name", None) or getattr(operation, "name")  # noqa: B009
    return name.lower()


class CreateMissingModel(CreateModel):
    """Creates a model's table, or adopts the table of the same name that an app with another label created.

    An adopted table must have the model's columns and indexes. Unapplying drops the table, as `CreateModel` does.
    """

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        if self.options["db_table"] not in schema_editor.connection.introspection.table_names():
            super().database_forwards(app_label, schema_editor, from_state, to_state)
