"""Only what is missing is installed."""

from pathlib import Path

from annotation_app.operations.install.system_packages import RUN_PACKAGES, SystemPackage


def test_a_need_is_met_by_any_of_its_programs_or_files(tmp_path: Path) -> None:
    (tmp_path / "font.ttf").touch()
    assert SystemPackage("shell", programs=("no-such-program", "sh")).is_installed()
    assert SystemPackage("font", files=(f"{tmp_path}/*.ttf",)).is_installed()
    assert not SystemPackage("font", files=(f"{tmp_path}/*.otf",)).is_installed()
    assert not SystemPackage("nothing", programs=("no-such-program",)).is_installed()


def test_every_need_says_how_it_is_recognised() -> None:
    assert all(need.programs or need.files for need in RUN_PACKAGES)
    assert len({need.package for need in RUN_PACKAGES}) == len(RUN_PACKAGES)
