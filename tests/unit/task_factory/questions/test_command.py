"""What `questions make` refuses before it reads anything."""

from pathlib import Path

import pytest

from task_factory.__main__ import main
from task_factory.questions.records import TASKS
from tests.unit.vm_bridge.suites.site_tasks.test_zim_files import write_zim


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--url", "http://wiki.test/"], "--search-url with {words}"),
        (["--url", "http://wiki.test/", "--search-url", "http://wiki.test/search"], "--search-url with {words}"),
        (["--url", "wiki.test", "--search-url", "{words}"], "wiki.test is no address of a site"),
        (["--zim", "none.zim"], "zim_missing: "),
        (["--zim", "wiki.zim", "--model", "name"], "both --model-url and --model"),
        (["--zim", "wiki.zim", "--pages", "0"], "pages"),
        (["--zim", "wiki.zim"], "kiwix_missing: "),
        (["--zim", "wiki.zim", "--out", "made"], "made has tasks already"),
    ],
)
def test_it_says_what_is_missing(
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    write_zim(tmp_path / "wiki.zim")
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / TASKS).touch()
    assert main(["questions", "make", "--out", "out", *words]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_wiki_is_one_of_two(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["questions", "make", "--out", "out"])
    with pytest.raises(SystemExit):
        main(["questions", "make", "--out", "out", "--zim", "a.zim", "--url", "http://wiki.test/"])
    assert "not allowed with" in capsys.readouterr().err
