"""A run that follows an inbox: what comes joins between two passes, and a ledger makes a run that was ended exact."""

import json
import shutil
from pathlib import Path

import pytest
import torch

from protocol.trajectory.export_folders import MANIFEST, TRAJECTORIES
from tests.trainer.examples import CLICK, TYPED, write_attempt_folder
from tests.unit.protocol.examples import trajectory
from trainer.algorithms.sft import Config, run
from trainer.data.batches import Batch, BatchPosition
from trainer.data.rendering import TokenizedSample
from trainer.data.streaming import ENDED, LEDGER, StreamingOrder, WaitPolicy
from trainer.errors import CheckpointMismatched, ConfigInvalid, FolderDamaged, NothingToLearn
from trainer.model.checkpoints import Checkpoint, load_checkpoint
from trainer.runtime.metrics import LOG


def came(inbox: Path, name: str) -> None:
    """One more attempt of two steps, no two alike."""
    whole = trajectory(CLICK, TYPED).model_copy(update={"id": name})
    write_attempt_folder(inbox / f"{name}.tmp", whole).rename(inbox / name)


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    """An inbox with one attempt."""
    came(tmp_path / "inbox", "1")
    return tmp_path / "inbox"


@pytest.fixture
def config(checkpoint: Checkpoint, inbox: Path, tmp_path: Path) -> Config:
    """A run of seconds that follows it, one sample an update."""
    told = {"updates": 100, "sequences": 1, "tokens": 2048, "learning_rate": 3e-3, "warmup": 2, "keep_every": 1}
    followed = {"checkpoint": checkpoint.path, "folders": (inbox,), "out": tmp_path / "run", "follow": True}
    return Config.model_validate({**followed, "patience": 0.01, **told})


def order_of(config: Config, *, passes: int | None = 1) -> StreamingOrder:
    """The order of a run whose folders have one sample each, of a length by their names."""

    def read(path: Path) -> list[TokenizedSample]:
        if not (path / TRAJECTORIES).read_text().endswith("}\n"):
            raise FolderDamaged("cut off")
        return [TokenizedSample(path.name, 0, "human", (0,) * 1500, (), (), (), None)]

    config.out.mkdir(exist_ok=True)
    return StreamingOrder(config, config.folders, read, WaitPolicy(passes, 0.01), config.out / LEDGER)


def batch_trajectory_ids(order: StreamingOrder, batches: list[Batch]) -> set[str]:
    return {order.samples[one].trajectory_id for batch in batches for one in batch.samples}


def test_what_came_joins_between_two_passes(config: Config, inbox: Path) -> None:
    order = order_of(config)
    updates = order.updates({}, 2)
    assert batch_trajectory_ids(order, next(updates)) == {"1"}
    came(inbox, "3")
    came(inbox, "2")
    (inbox / "4.tmp").mkdir()
    assert batch_trajectory_ids(order, first := next(updates)) | batch_trajectory_ids(
        order, second := next(updates)
    ) == {"1", "2", "3"}
    assert [len(first), len(second)] == [2, 1], "an update ends with its pass"
    came(inbox, "0")
    assert batch_trajectory_ids(order, next(updates)) | batch_trajectory_ids(order, next(updates)) == {
        "0",
        "1",
        "2",
        "3",
    }
    assert list(updates) == [], "nothing more came in time"
    assert [one.trajectory_id for one in order.samples] == ["1", "2", "3", "0"]


def test_it_goes_over_what_is_there_before_it_waits(config: Config, inbox: Path) -> None:
    assert [batch.after for (batch,) in order_of(config, passes=3).updates({}, 1)] == [
        BatchPosition(1),
        BatchPosition(2),
        BatchPosition(3),
    ]
    came(inbox, "2")
    order = order_of(config, passes=3)
    assert [len(order.samples), len(list(order.updates({"epoch": 3, "batch": 0}, 2)))] == [1, 3]


def test_who_never_waits_goes_on_with_what_is_there(config: Config, inbox: Path) -> None:
    updates = order_of(config, passes=None).updates({}, 1)
    assert [next(updates)[0].after.epoch for _ in range(5)] == [1, 2, 3, 4, 5]
    came(inbox, "2")
    assert [next(updates)[0].after.epoch for _ in range(2)] == [5, 6], "two sequences in the pass that follows"


def test_the_end_is_told(config: Config, inbox: Path, tmp_path: Path) -> None:
    patient = config.model_copy(update={"folders": (inbox, tmp_path / "new"), "patience": 3600.0})
    (inbox / ENDED).touch()
    order = StreamingOrder(
        patient, patient.folders, order_of(config)._read, WaitPolicy(1, 3600.0), patient.out / LEDGER
    )
    updates = order.updates({}, 1)
    next(updates)
    (tmp_path / "new" / ENDED).touch()
    assert list(updates) == []


def test_what_cannot_be_used_is_left_out_and_remembered(
    config: Config, inbox: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    came(inbox, "0")
    (inbox / "0" / TRAJECTORIES).write_text("{")
    for _ in range(2):
        order = order_of(config)
        assert batch_trajectory_ids(order, [batch for each in order.updates({}, 9) for batch in each]) == {"1"}
    assert capsys.readouterr().err == "0: folder_damaged: cut off\n", "told once"
    with pytest.raises(FolderDamaged):
        list(
            order_of(config.model_copy(update={"folders": (inbox / "0",), "out": config.out / "other"})).updates({}, 1)
        )


def test_nothing_at_all_is_an_error(config: Config, tmp_path: Path) -> None:
    with pytest.raises(NothingToLearn, match="nothing that can be trained on came"):
        run(config.model_copy(update={"folders": (tmp_path / "empty",)}))


def test_a_run_goes_on_bit_for_bit_whatever_has_come_since(config: Config, inbox: Path, tmp_path: Path) -> None:
    first = run(config)
    came(inbox, "2")
    whole = run(config)
    assert (first.name, whole.name) == ("update-000002", "update-000006"), "a pass over one attempt, one over both"
    ended = tmp_path / "ended"
    shutil.copytree(config.out, ended)
    for update in (4, 5, 6):
        shutil.rmtree(ended / f"update-{update:06}")
    came(inbox, "0")
    again = run(config.model_copy(update={"out": ended, "updates": 6}))
    weights = [load_checkpoint(path).model.state_dict() for path in (whole, again)]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
    logs = [
        [{**json.loads(line), "seconds": 0} for line in (out / LOG).read_text().splitlines()]
        for out in (config.out, ended)
    ]
    assert logs[0] == logs[1]
    assert run(config.model_copy(update={"out": ended})).name == "update-000012", "and what came since joins after it"


def test_another_folder_than_the_one_that_joined_is_refused(config: Config, inbox: Path) -> None:
    run(config)
    (inbox / "1" / MANIFEST).write_text((inbox / "1" / MANIFEST).read_text() + "\n")
    with pytest.raises(CheckpointMismatched, match="1 is not what joined"):
        run(config)
    shutil.move(config.out / LEDGER, config.out / "elsewhere")
    with pytest.raises(CheckpointMismatched, match="has 0 passes"):
        run(config)


def test_weights_over_the_whole_data_are_refused(config: Config) -> None:
    with pytest.raises(ConfigInvalid):
        run(config.model_copy(update={"weighting": "shares"}))
