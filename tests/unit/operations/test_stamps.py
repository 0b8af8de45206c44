"""A step is repeated exactly when what it was made from has changed."""

from pathlib import Path

from annotation_app.operations.stamps import digest_of, is_fresh, stamp


def test_a_stamp_holds_until_a_source_changes(tmp_path: Path) -> None:
    source, done = tmp_path / "source", tmp_path / "deep" / "done"
    source.write_text("one")
    assert not is_fresh(done, digest_of([source]))
    stamp(done, digest_of([source]))
    assert is_fresh(done, digest_of([source]))
    source.write_text("two")
    assert not is_fresh(done, digest_of([source]))


def test_the_digest_depends_on_names_contents_and_salt_but_not_on_order(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("a")
    two.write_text("b")
    assert digest_of([one, two]) == digest_of([two, one])
    assert digest_of([one, two]) != digest_of([one])
    assert digest_of([one]) != digest_of([one], salt="other")
    one.rename(tmp_path / "renamed")
    assert digest_of([tmp_path / "renamed"]) != digest_of([two])
