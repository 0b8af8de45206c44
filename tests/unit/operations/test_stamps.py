"""A step is repeated exactly when what it was made from has changed."""

from pathlib import Path

from annotation_app.operations.install.stamps import digest_files, is_fresh, write_stamp


def test_a_stamp_holds_until_a_source_changes(tmp_path: Path) -> None:
    source, done = tmp_path / "source", tmp_path / "deep" / "done"
    source.write_text("one")
    assert not is_fresh(done, digest_files([source]))
    write_stamp(done, digest_files([source]))
    assert is_fresh(done, digest_files([source]))
    source.write_text("two")
    assert not is_fresh(done, digest_files([source]))


def test_the_digest_depends_on_names_contents_and_salt_but_not_on_order(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("a")
    two.write_text("b")
    assert digest_files([one, two]) == digest_files([two, one])
    assert digest_files([one, two]) != digest_files([one])
    assert digest_files([one]) != digest_files([one], salt="other")
    one.rename(tmp_path / "renamed")
    assert digest_files([tmp_path / "renamed"]) != digest_files([two])
