"""A benchmark that measured nothing, or found a guarantee broken, exits with an error."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from annotation_app.operations.errors import StartFailed
from benchmarks import hosts, nano, train
from benchmarks.parts import nginx
from benchmarks.parts.figures import print_figures
from benchmarks.parts.leases import chaos
from benchmarks.parts.ray_cluster import node_loss
from benchmarks.parts.training import trl_environment
from benchmarks.parts.training.trl_environment import MeasurementFailed, run_measurement


@pytest.mark.parametrize(
    ("figures", "status"),
    [
        ({"claims_per_s": 12}, 0),
        ({"double_leases": 0, "osworld_task_ok": True}, 0),
        ({"osworld_task_ok": None, "web_failover_lost_steps": None}, 0),
        ({"double_leases": 1}, 1),
        ({"hashing_parallel": 3, "scope_tries": 200}, 1),
        ({"hashing_parallel": 2, "scope_tries": 199}, 1),
        ({"hashing_parallel": 2, "scope_tries": 200}, 0),
        ({"keys_per_accepted_task": 3, "completion_keys_saved_share": 0.6}, 1),
        ({"keys_per_accepted_task": 2, "completion_keys_saved_share": 0.4}, 1),
        ({"keys_per_accepted_task": 2, "completion_keys_saved_share": None}, 0),
        ({"web_failover_lost_steps": 2}, 1),
        ({"osworld_task_ok": False}, 1),
        ({"harbor_runner": "failed"}, 1),
        ({"verifiers_ok": "absent", "inspect_ok": "absent", "openenv_share_of_bridge": "absent"}, 0),
        ({"verifiers_ok": False}, 1),
        ({"vectors": 60, "vectors_exact": 60}, 0),
        ({"kills": 50, "kills_survived": 50, "canaries_found": 0}, 0),
        ({"kills": 50, "kills_survived": 49}, 1),
        ({"canaries_found": 1}, 1),
        ({"vectors": 61, "vectors_exact": 60}, 1),
        ({"windows_contract": {"passed": 30, "total": 30}}, 0),
        ({"windows_contract": {"passed": 29, "total": 30}}, 1),
    ],
)
def test_figures_are_printed_and_a_broken_guarantee_fails(figures: dict[str, object], status: int, capsys: Any) -> None:
    assert print_figures("some", figures) == status
    said, told = capsys.readouterr()
    last = json.loads(said.splitlines()[-1])
    assert last["benchmark"] == "some"
    assert figures.items() <= last.items()
    assert ("✗" in told) == bool(status)


@pytest.mark.parametrize(
    ("benchmark", "milliseconds", "status"),
    [("models", 5, 0), ("models", 5.1, 1), ("policy", 10, 0), ("policy", 10.1, 1), ("some", 11, 0)],
)
def test_a_figure_of_two_benchmarks_has_the_bound_of_each(
    benchmark: str, milliseconds: float, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert print_figures(benchmark, {"service_overhead_ms": milliseconds}) == status
    assert ("service_overhead_ms" in capsys.readouterr().err) == bool(status)


def test_a_checkpoint_that_is_not_there_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.argv", ["nano", "--checkpoint", str(tmp_path / "none")])
    with pytest.raises(SystemExit) as ended:
        nano.main()
    assert ended.value.code


def test_a_measurement_with_the_peer_that_fails_is_no_missing_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(python: Path, module: str, folder: Path) -> dict[str, Any]:
        if module.endswith("trl_trainer"):
            raise MeasurementFailed(module)
        return {"sft_tokens_per_s": 1}

    monkeypatch.setattr("sys.argv", ["train"])
    monkeypatch.setattr(train, "ensure_trainer", lambda console: Path(sys.executable))
    monkeypatch.setattr(train, "ensure_trl", lambda console, python: python)
    monkeypatch.setattr(train, "run_measurement", failing)
    with pytest.raises(MeasurementFailed, match="trl_trainer"):
        train.main()


def test_a_program_that_measures_and_fails_is_told_with_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(MeasurementFailed, match="no_such_module"):
        run_measurement(Path(sys.executable), "benchmarks.parts.no_such_module", tmp_path)
    assert not issubclass(MeasurementFailed, trl_environment.PeerUnavailable)


def test_a_cluster_that_does_not_start_is_no_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(folder: Path) -> dict[str, object]:
        raise StartFailed("Ray ended.")

    monkeypatch.setattr("sys.argv", ["hosts"])
    monkeypatch.setattr(nginx, "NGINX", None)
    monkeypatch.setattr(hosts, "ensure_ray", lambda console: Path(sys.executable))
    monkeypatch.setattr(node_loss, "measure", failing)
    with pytest.raises(StartFailed):
        hosts.main()


def test_clients_that_fall_over_are_not_counted_as_clients_without_leases(tmp_path: Path) -> None:
    (tmp_path / "holders.log").write_text("It fell over.")
    with subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"]) as client:
        client.wait()
        with pytest.raises(RuntimeError, match=r"status 3: It fell over\."):
            chaos._raise_if_ended([client], tmp_path)
