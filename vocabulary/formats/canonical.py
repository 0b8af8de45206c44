"""The platform's own: one `Trajectory` a line, read by the trainer and by other platforms."""

from collections.abc import Iterator

from vocabulary.exports import TRAJECTORIES, files_of, pictures_of, prompts_of
from vocabulary.formats.incoming import Incoming, Reader, parsed, whole
from vocabulary.formats.record import Choice, Format, Record
from vocabulary.trajectories import FORMAT as NAME
from vocabulary.trajectories import Trajectory


def records(trajectory: Trajectory, choice: Choice) -> Iterator[Record]:
    """The trajectory as it is."""
    yield Record(
        key=trajectory.id,
        images=pictures_of(trajectory),
        lines={TRAJECTORIES: trajectory.model_dump_json()},
        extras=(*files_of(trajectory), *prompts_of(trajectory)),
        steps=len(trajectory.steps),
    )


def read(incoming: Incoming) -> Trajectory:
    """Raises RowRefused."""
    return whole(parsed(Trajectory, dict(incoming.row)))


READER = Reader("canonical", lambda row: row.get("format") == NAME, read)
FORMAT = Format("canonical", "lines", records)
