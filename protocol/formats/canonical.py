"""The platform's own: one `Trajectory` a line, read by the trainer and by other platforms."""

from collections.abc import Iterator

from protocol.formats.dataset_card import dataset_card, describe_columns
from protocol.formats.records import ExportFormat, ExportOptions, Record, RowError
from protocol.formats.row_readers import RowReader, SourceRow, validate_as, validate_trajectory
from protocol.trajectory.export_folders import TRAJECTORIES, trajectory_files, trajectory_images, trajectory_prompts
from protocol.trajectory.trajectories import ORIGINAL, Trajectory
from protocol.trajectory.trajectories import TRAJECTORY_FORMAT as NAME


def records(trajectory: Trajectory, options: ExportOptions) -> Iterator[Record]:
    """The trajectory as it is."""
    yield Record(
        key=trajectory.id,
        images=trajectory_images(trajectory),
        lines={TRAJECTORIES: trajectory.model_dump_json()},
        extras=(*trajectory_files(trajectory), *trajectory_prompts(trajectory)),
        steps=len(trajectory.steps),
    )


def read(source_row: SourceRow) -> Trajectory:
    """Raises RowError; `variant` for a model's variant of another trajectory's thoughts, which is no attempt."""
    trajectory = validate_as(Trajectory, dict(source_row.row))
    if trajectory.variant != ORIGINAL:
        raise RowError("variant", f"It is the variant {trajectory.variant} of another trajectory. Import the original.")
    return validate_trajectory(trajectory)


READER = RowReader("canonical", lambda row: row.get("format") == NAME, read)
COLUMNS = {
    **dict.fromkeys(Trajectory.model_fields, "json"),
    **dict.fromkeys(("format", "id", "origin", "outcome"), "string"),
    **dict.fromkeys(("terminated", "truncated"), "bool"),
}
FORMAT = ExportFormat("canonical", "lines", records, sidecar_files=dataset_card(describe_columns(COLUMNS)))
