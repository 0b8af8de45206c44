"""The command over real folders and a real server: written whole, and gone on with by the same judge only."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn

from agent_backend.evaluation import rejection_sampling
from agent_backend.evaluation.__main__ import main as evaluate
from agent_backend.judges.__main__ import main
from agent_backend.judges.judgement_folder import read_judgements
from agent_backend.scripted_policy.judge import JUDGE_MODEL
from agent_backend.scripted_policy.server import create_app
from agent_backend.trajectory_folders import InvalidFolder, read_manifest, read_trajectories
from protocol.actions.types import Click, Finish
from protocol.blobs import BlobRef
from protocol.dialects.families import get_dialect
from protocol.evaluation.judge_prompts import JudgePrompt
from protocol.evaluation.reports import Evaluation
from protocol.trajectory.observations import Verdict
from protocol.trajectory.trajectories import Trajectory
from tests.unit.agent_backend.evaluation.examples import example_attempt
from tests.unit.protocol.examples import trajectory
from tests.unit.trainer.trajectory_folders import write_trajectory_folder
from tests.waiting import wait_until


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The scripted judge on a port of its own."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    app = create_app((), get_dialect("ui_tars_1_5"), pace=0)
    running = uvicorn.Server(uvicorn.Config(app, log_config=None, ws="none", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=lambda: asyncio.run(running.serve(sockets=[listener])))
    thread.start()
    wait_until(lambda: running.started)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    running.should_exit = True
    thread.join(20)
    listener.close()


def attempts() -> tuple[Trajectory, ...]:
    """Two done and one not, as people said; the scripted judge is wrong about one of each kind it can be."""
    done = trajectory(Click(x=1, y=1), Finish(), id="done", verdict=Verdict(success=True, score=1))
    failed = trajectory(Finish(), id="failed", outcome="failure", verdict=Verdict(success=False, score=0))
    open_end = trajectory(Click(x=1, y=1), id="open", verdict=None)
    return done, failed, open_end


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_trajectory_folder(tmp_path / "export", *attempts())
    return tmp_path / "export"


def command(folder: Path, server: str, *more: str, out: str = "judged") -> list[str]:
    asked = ["--judge", "outcome_model", "--model-url", server, "--model", JUDGE_MODEL, "--revision", "1", "--scripted"]
    return [str(folder), *asked, "--out", str(folder.with_name(out)), *more]


def test_every_attempt_gets_a_judgement_and_its_prompt(
    folder: Path, server: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(folder, server, "--parallel", "2")) == 0
    out = folder.with_name("judged")
    manifest, judgements = read_judgements(out)
    assert (manifest.judged, manifest.unsaid, manifest.judge.scripted) == (3, 0, True)
    scores = {name: judgement.score for name, judgement in judgements.items()}
    assert scores == pytest.approx({"done": 0.9, "failed": 0.9, "open": 0.1})
    for judgement in judgements.values():
        assert judgement.prompt is not None
        data = (out / "prompts" / f"{judgement.prompt.sha256}.json").read_bytes()
        assert BlobRef.of(data, judgement.prompt.media_type) == judgement.prompt
        JudgePrompt.model_validate_json(data)
    said = capsys.readouterr().out
    assert "precision 0.500 (1/2" in said
    assert "false positive rate 1.000 (1/1" in said
    assert sorted(path.name for path in folder.parent.iterdir()) == ["export", "judged"]


def test_a_run_that_was_broken_off_goes_on(folder: Path, server: str) -> None:
    assert main(command(folder, "http://127.0.0.1:9/v1")) == 1, "nobody answers there"
    aside = folder.with_name("judged.tmp")
    assert aside.is_dir()
    assert main(command(folder, server, out="other")) == 0
    first, second, _ = (folder.with_name("other") / "judgements.jsonl").read_bytes().splitlines(keepends=True)
    marked = first.replace(b'"words":"', b'"words":"KEPT ')
    (aside / "judgements.jsonl").write_bytes(marked + second[:40])
    assert main(command(folder, server)) == 0
    _, judgements = read_judgements(folder.with_name("judged"))
    assert sorted(judgements) == ["done", "failed", "open"]
    assert [name for name, said in judgements.items() if said.words.startswith("KEPT")] == ["done"]


def test_what_another_judge_has_begun_is_left_alone(
    folder: Path, server: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(folder, "http://127.0.0.1:9/v1")) == 1
    assert main(command(folder, server, "--images", "2")) == 1
    assert "begun by another judge" in capsys.readouterr().err
    assert not folder.with_name("judged").exists()


def test_the_verifier_needs_no_server(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder.with_name("judged")
    assert main([str(folder), "--judge", "verifier", "--out", str(out)]) == 0
    manifest, judgements = read_judgements(out)
    assert {name: said.score for name, said in judgements.items()} == {"done": 1, "failed": 0, "open": None}
    assert manifest.unsaid == 1
    assert "without a score 1 of 3" in capsys.readouterr().out


def test_an_altered_picture_is_a_lost_one(folder: Path, server: str) -> None:
    for picture in (folder / "images").iterdir():
        picture.write_bytes(b"another picture")
    assert main(command(folder, server)) == 0
    _, judgements = read_judgements(folder.with_name("judged"))
    assert {judgement.unsaid for judgement in judgements.values()} == {"screen_lost"}


def test_a_server_that_will_have_none_writes_nothing(folder: Path, server: str) -> None:
    wrong = [argument if argument != JUDGE_MODEL else "no such model" for argument in command(folder, server)]
    assert main(wrong) == 1
    assert not folder.with_name("judged").exists()


@pytest.mark.parametrize(
    "more",
    [("--votes", "3"), ("--votes", "0"), ("--images", "-1"), ("--temperature", "9"), ("--model-url", "nowhere")],
)
def test_settings_that_make_no_sense_are_refused(folder: Path, server: str, more: tuple[str, str]) -> None:
    assert main(command(folder, server, *more)) == 1
    assert [path.name for path in folder.parent.iterdir()] == ["export"]


def test_a_target_that_is_there_is_never_written_to(folder: Path, server: str) -> None:
    out = folder.with_name("judged")
    out.mkdir()
    assert main(command(folder, server)) == 1
    assert list(out.iterdir()) == []


@pytest.mark.parametrize("spoiled", ["missing", "altered", "nonsense"])
def test_a_spoiled_folder_of_judgements_is_refused(folder: Path, spoiled: str) -> None:
    out = folder.with_name("judged")
    assert main([str(folder), "--judge", "verifier", "--out", str(out)]) == 0
    lines = out / "judgements.jsonl"
    if spoiled == "missing":
        lines.unlink()
    else:
        lines.write_bytes(b"nonsense\n" if spoiled == "nonsense" else lines.read_bytes().replace(b"1.0", b"0.5"))
    with pytest.raises(InvalidFolder):
        read_judgements(out)


def unverified(tmp_path: Path) -> tuple[Path, Path]:
    """A rollout of two tries nobody could judge, and what a judge said: it ends by itself, it does not."""
    tries = tmp_path / "tries"
    ending = example_attempt("snake", None, run="ends")
    last = ending.steps[-1].model_copy(update={"action": Finish()})
    write_trajectory_folder(
        tries, ending.model_copy(update={"steps": (last,)}), example_attempt("snake", None, seed=1, run="goes-on")
    )
    return tries, tmp_path / "judged"


def test_a_judge_is_believed_only_where_that_is_asked_for(
    tmp_path: Path, server: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tries, judged = unverified(tmp_path)
    assert main(command(tries, server)) == 0
    report = tmp_path / "report.json"
    assert evaluate([str(tries), "--out", str(report)]) == 0
    without = Evaluation.model_validate_json(report.read_bytes())
    assert (without.attempts, without.left_out.unjudged, without.judge) == (0, 2, "")
    assert evaluate([str(tries), "--out", str(report), "--judgements", str(judged), "--threshold", "0.8"]) == 0
    found = Evaluation.model_validate_json(report.read_bytes())
    assert (found.attempts, found.judged, found.suites[0].successes.successes) == (2, 2, 1)
    assert found.judge == f"{JUDGE_MODEL} 1 from 0.8"
    assert found.judge in capsys.readouterr().out


def test_what_only_a_judge_believed_is_kept_only_where_that_is_asked_for(tmp_path: Path, server: str) -> None:
    tries, judged = unverified(tmp_path)
    assert main(command(tries, server)) == 0
    assert rejection_sampling.main([str(tries), "--out", str(tmp_path / "none")]) == 0
    assert list(read_trajectories([tmp_path / "none"])) == []
    assert rejection_sampling.main([str(tries), "--out", str(tmp_path / "kept"), "--judgements", str(judged)]) == 0
    assert [trajectory.id for _, trajectory in read_trajectories([tmp_path / "kept"])] == ["ends-games-snake-0"]
    filters = read_manifest(tmp_path / "kept").filters
    assert (filters["verified"], filters["judge"]) == (False, f"{JUDGE_MODEL} 1 from 0.5")


def test_a_verifier_s_word_goes_before_a_judge_s(tmp_path: Path, server: str) -> None:
    tries = tmp_path / "tries"
    ending = example_attempt("snake", False)
    write_trajectory_folder(
        tries, ending.model_copy(update={"steps": (ending.steps[0].model_copy(update={"action": Finish()}),)})
    )
    assert main(command(tries, server)) == 0
    assert (
        rejection_sampling.main([str(tries), "--out", str(tmp_path / "kept"), "--judgements", str(tmp_path / "judged")])
        == 0
    )
    assert list(read_trajectories([tmp_path / "kept"])) == []


def test_one_judge_is_believed_at_a_time(folder: Path, server: str) -> None:
    assert main(command(folder, server)) == 0
    assert main([str(folder), "--judge", "verifier", "--out", str(folder.with_name("other"))]) == 0
    both = [str(folder.with_name(name)) for name in ("judged", "other")]
    assert evaluate([str(folder), "--judgements", *both]) == 1
