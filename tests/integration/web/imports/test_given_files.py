"""Files from public reports become what they should: rows, uploads of tasks, exports and sizes."""

from pathlib import Path

from benchmarks.parts.given_cases.files import PEERS_CASE, check_cases, read_cases
from tests.integration.web.conftest import World


def test_given_files_become_what_they_should(committed: World, tmp_path: Path) -> None:
    found = check_cases(tmp_path / "given")
    assert [name for name, holds in found.items() if not holds] == []
    assert found.keys() == {case["id"] for case in read_cases()} - {PEERS_CASE}
