"""Every format, read by its consumer's own loader or validator, in an environment of their own."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import simplejpeg
from numpy import full, uint8
from pyarrow.parquet import ParquetFile

from annotation_app.accounts.models import User
from annotation_app.episodes import services
from annotation_app.exports import part_writers
from annotation_app.exports.folder_writer import ExportResult
from annotation_app.exports.schemas import ExportFilters, ExportPlan
from annotation_app.exports.services import export_write_to
from annotation_app.exports.splits import Shares
from annotation_app.operations.console import Console
from annotation_app.operations.runtime.stack import ROOT
from annotation_app.tasks.models import Pool
from annotation_app.tasks.services import tasks_add
from benchmarks.parts.exports import measurements
from benchmarks.parts.exports.consumers.environment import ensure_consumers
from protocol.actions.types import Click, Finish, TypeText
from protocol.blobs import BlobRef
from protocol.formats.registry import FORMATS
from protocol.trajectory.observations import Observation
from tests.contract.test_store import NOW, POLICY, proposal, step
from tests.integration.web.conftest import World, task_named

READERS = ROOT / "tests" / "consumers" / "export_readers.py"
CONSUMERS = tuple(name for name in FORMATS if name != "canonical")
"""What is read by others; the canonical format is the trainer's, and tested there."""


def picture(shade: int) -> tuple[BlobRef, bytes]:
    """A screen of one colour."""
    data = bytes(simplejpeg.encode_jpeg(full((90, 160, 3), shade, dtype=uint8), quality=90))
    return BlobRef.of(data, "image/jpeg"), data


def look(shade: int) -> Observation:
    return Observation(
        screenshot=picture(shade)[0],
        width=160,
        height=90,
        captured_at=NOW,
        settled=True,
        rest="rested",
        settle_ms=10,
    )


def attempt(user: User, number: int, pool: Pool) -> str:
    """A finished attempt of three steps: accepted, overridden, and its end."""
    tasks_add(pool=pool, definitions=[task_named(f"made-{number}")])
    episode = services.episode_next(user=user, pool_id=pool.pk)
    assert episode is not None
    own: dict[str, Any] = {
        "episode_id": episode.id,
        "token": services.runner_take_over(episode_id=episode.id, runner="h:1:a", seconds=60),
    }
    base = number * 4 % 200
    for shade in range(base, base + 4):
        ref, data = picture(shade)
        services.blob_add(**own, ref=ref, data=data)
    actions = (TypeText(text="x=5 <image> y=7"), Click(x=150, y=80), Finish())
    for index, action in enumerate(actions):
        own_words = index == 0
        offers = (
            proposal(1, id=f"{episode.id}-{index}-1", action=action if own_words else Click(x=5, y=5)),
            proposal(2, id=f"{episode.id}-{index}-2", action=Click(x=40, y=30)),
        )
        services.proposals_add(**own, proposals=offers, policy=POLICY)
        services.step_append(
            **own,
            step=step(
                index,
                f"{episode.id}-{index}",
                action=action,
                actor="policy" if own_words else "human",
                decision="accept" if own_words else "override",
                proposal_id=offers[0].id if own_words else None,
                policy=POLICY,
                before=look(base + index),
                after=look(base + index + 1),
            ),
        )
    services.episode_change(**own, fields={"status": "finished", "outcome": "success"})
    return str(episode.id)


@pytest.fixture
def attempts(committed: World) -> list[str]:
    """Three attempts."""
    committed.pool.tasks.all().delete()
    return [attempt(committed.ada, number, committed.pool) for number in range(3)]


def write(target: Path, **plan: Any) -> ExportResult:
    return export_write_to(
        target=target, pool_name="real", filters=ExportFilters(review=None), plan=ExportPlan.model_validate(plan)
    )


@pytest.fixture(scope="session")
def consumers() -> Path:
    """The Python of those who read exports."""
    return ensure_consumers(Console())


@pytest.fixture(scope="module")
def readers(consumers: Path, tmp_path_factory: pytest.TempPathFactory) -> "Iterator[subprocess.Popen[str]]":
    """The process that reads exports: consumers' libraries take seconds to import."""
    environment = {
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
        "DISABLE_VERSION_CHECK": "1",
        "HOME": str(tmp_path_factory.mktemp("readers")),
        "PATH": "/usr/bin:/bin",
    }
    command = [str(consumers), str(READERS)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def read(readers: "subprocess.Popen[str]", name: str, folder: Path) -> dict[str, Any]:
    """What the consumer found."""
    assert readers.stdin
    assert readers.stdout
    readers.stdin.write(json.dumps([name, str(folder)]) + "\n")
    readers.stdin.flush()
    for line in readers.stdout:
        if line.startswith("{"):
            found: dict[str, Any] = json.loads(line)
            assert "error" not in found, found["error"]
            return found
    raise AssertionError("the process that reads exports has ended")


@pytest.mark.timeout(1_500)  # the first one makes the environment
@pytest.mark.parametrize("name", CONSUMERS)
def test_a_format_is_read_by_its_consumer(
    attempts: list[str], readers: "subprocess.Popen[str]", tmp_path: Path, name: str
) -> None:
    made = write(tmp_path / "out", format=name)
    assert (made.counts.trajectories, made.refused, made.missing) == (3, {}, [])
    found = read(readers, name, tmp_path / "out")
    assert found["records"] == made.counts.records
    assert found["records"] >= 3


@pytest.mark.timeout(1_500)
@pytest.mark.parametrize("name", measurements.TRAINERS)
def test_hostile_text_is_learned_exactly_or_left_out(consumers: Path, tmp_path: Path, name: str) -> None:
    """By the consumer's own loader and template, whatever a task, a person or a screen says."""
    measurements.write_processor(consumers, tmp_path / "processor")
    environment = {**os.environ, "PILOTHOUSE_DATA": str(tmp_path / "data")}
    found = measurements.measure_hostile_rows(
        consumers, tmp_path / "processor", name, "ui_tars_1_5", environment, tmp_path
    )
    assert found.rows >= 300
    assert found.exact == found.read == found.written
    assert found.rows - found.written == sum(found.left_out.values())
    assert set(found.left_out) <= {"special_word", "not_normalised", "unreadable"}
    assert found.written > 0.9 * found.rows


@pytest.mark.timeout(1_500)
@pytest.mark.parametrize(
    ("consumer", "name"), [("datasets", "webdataset"), ("webdataset", "webdataset"), ("Harbor", "atif")]
)
def test_hostile_text_is_read_exactly(consumers: Path, tmp_path: Path, consumer: str, name: str) -> None:
    """Also where columns begin with nulls, and of attempts that a reviewer split."""
    environment = {**os.environ, "PILOTHOUSE_DATA": str(tmp_path / "data")}
    for found in measurements.measure_read_rows(consumers, consumer, name, environment, tmp_path):
        assert found.exact == found.read == found.written == found.rows
        assert found.rows >= 300


@pytest.mark.parametrize("name", FORMATS)
def test_the_same_data_gives_the_same_bytes(attempts: list[str], tmp_path: Path, name: str) -> None:
    manifests = []
    for target in (tmp_path / "one", tmp_path / "two"):
        write(target, format=name)
        manifests.append(json.loads((target / "manifest.json").read_text())["files"])
    assert manifests[0] == manifests[1]
    assert not list(tmp_path.rglob("*.part")) + list(tmp_path.rglob("journal*"))


def test_a_kind_of_task_is_in_one_split(attempts: list[str], tmp_path: Path) -> None:
    write(tmp_path / "out", shares=Shares(validation=0.3, test=0.3, salt="3").model_dump())
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert sum(manifest["splits"].values()) == 3
    assert len(manifest["splits"]) == 1, "attempts of one kind of task, with other texts"


def test_pictures_of_a_table_are_bytes_and_its_groups_are_bounded(
    attempts: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """X8: verl opens `bytes`; a group of rows is what a reader holds in memory."""
    write(tmp_path / "one", format="verl_sft")
    monkeypatch.setattr(part_writers, "ROW_GROUP_BYTES", 12_000)
    write(tmp_path / "two", format="verl_sft")
    tables = [ParquetFile(*(tmp_path / name / "data").iterdir()) for name in ("one", "two")]
    assert [table.num_row_groups for table in tables] == [1, tables[1].metadata.num_rows], (
        "two rows of text and pictures are over the bound"
    )
    rows = [table.read().to_pylist() for table in tables]
    assert rows[0] == rows[1]
    assert {one["bytes"][:3] for row in rows[0] for one in row["images"]} == {b"\xff\xd8\xff"}


@pytest.mark.parametrize(
    ("name", "space", "limits"),
    [
        ("huggingface", "pixels", False),
        ("agentnet", "shares", False),
        ("llama_factory_sft", "scaled_pixels", True),
    ],
)
def test_the_manifest_says_what_points_are(
    attempts: list[str], tmp_path: Path, name: str, space: str, limits: bool
) -> None:
    write(tmp_path / "out", format=name)
    found = json.loads((tmp_path / "out" / "manifest.json").read_text())["coordinates"]
    sizes = {"min_pixels": 78_400, "max_pixels": 12_845_056, "factor": 28}
    assert found == {"space": space, **(sizes if limits else dict.fromkeys(sizes))}


def test_what_is_left_out_is_counted_by_code(attempts: list[str], tmp_path: Path) -> None:
    """UI-TARS 2 writes arguments as they are: typed text with a placeholder has no escape."""
    made = write(tmp_path / "out", format="llama_factory_sft", dialect="ui_tars_2")
    assert made.refused == {"special_word": 3}
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert (manifest["refused"], manifest["refused_codes"]) == (3, {"special_word": 3})
    refused = [json.loads(line) for line in (tmp_path / "out" / "refused.jsonl").read_text().splitlines()]
    assert sorted(one["trajectory"] for one in refused) == sorted(attempts)
    assert {one["key"] for one in refused} == {f"{one}-00000" for one in attempts}
    assert made.counts.records == 6, "the other rows of each trajectory are written"
