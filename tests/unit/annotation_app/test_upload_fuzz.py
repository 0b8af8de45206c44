"""Spoiled files of tasks: every one is read or refused with reasons, and none breaks the reader."""

from benchmarks.parts.upload_fuzz import upload_files, uploads_fuzz

COUNT = 400


def test_no_file_breaks_the_reader() -> None:
    fuzzed = uploads_fuzz(seed=30, count=COUNT)
    assert fuzzed.problems == ()
    assert COUNT * 0.1 < fuzzed.with_tasks < COUNT * 0.9, "good files and bad ones"


def test_a_seed_names_its_files() -> None:
    assert list(upload_files(seed=5, count=20)) == list(upload_files(seed=5, count=20))
    assert list(upload_files(seed=5, count=20)) != list(upload_files(seed=6, count=20))
