"""Only what is missing is installed."""

from pathlib import Path

from annotation_app.operations.packages import NEEDS, Need


def test_a_need_is_met_by_any_of_its_programs_or_files(tmp_path: Path) -> None:
    (tmp_path / "font.ttf").touch()
    assert Need("shell", programs=("no-such-program", "sh")).met()
    assert Need("font", files=(f"{tmp_path}/*.ttf",)).met()
    assert not Need("font", files=(f"{tmp_path}/*.otf",)).met()
    assert not Need("nothing", programs=("no-such-program",)).met()


def test_every_need_says_how_it_is_recognised() -> None:
    assert all(need.programs or need.files for need in NEEDS)
    assert len({need.package for need in NEEDS}) == len(NEEDS)
