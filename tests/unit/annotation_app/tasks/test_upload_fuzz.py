"""Spoiled files of tasks: every one is read or refused with reasons, and none breaks the reader."""

from benchmarks.parts.fuzzing.task_uploads import fuzz_uploads, generate_uploads

COUNT = 400


def test_no_file_breaks_the_reader() -> None:
    fuzzed = fuzz_uploads(seed=30, count=COUNT)
    assert fuzzed.problems == ()
    assert COUNT * 0.1 < fuzzed.with_tasks < COUNT * 0.9, "good files and bad ones"


def test_a_seed_names_its_files() -> None:
    assert list(generate_uploads(seed=5, count=20)) == list(generate_uploads(seed=5, count=20))
    assert list(generate_uploads(seed=5, count=20)) != list(generate_uploads(seed=6, count=20))
