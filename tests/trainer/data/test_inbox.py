"""Folders of attempts are taken once, oldest first; what cannot be used is set aside with its reason."""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from protocol.training.inbox import (
    PROCESSED_FOLDER,
    REASONS_FILE,
    REJECTED_FOLDER,
    SHORTAGE_FILE,
    AttemptShortage,
    waiting_folders,
)
from tests.waiting import wait_until
from trainer.data.inbox import ALONE, OVER_SHARE, Inbox
from trainer.errors import AttemptStale, FolderDamaged, RolloutsMissing
from trainer.rl.attempts import Attempt


def attempt(name: str) -> Attempt:
    return Attempt(name, "task", (), (), True, False, (), 1, 0.0)


def create_folders(path: Path, *names: str) -> None:
    for name in names:
        (path / name).mkdir(parents=True)


def one(path: Path) -> tuple[list[Attempt], Counter[str]]:
    return [attempt(path.name)], Counter()


def anything(attempt: Attempt) -> None: ...


def test_the_oldest_are_taken_and_the_others_stay(tmp_path: Path) -> None:
    create_folders(tmp_path, "3", "1", "2", "4.tmp", ".open")
    inbox = Inbox(tmp_path, patience=0)
    taken = inbox.take(2, one, anything)
    assert taken.folders == ("1", "2")
    assert waiting_folders(tmp_path) == ["1", "2", "3"], "nothing leaves before it was learned from"
    inbox.mark_processed(taken.folders)
    assert waiting_folders(tmp_path) == ["3"]
    assert {folder.name for folder in (tmp_path / PROCESSED_FOLDER).iterdir()} == {"1", "2"}
    inbox.mark_processed(taken.folders)  # once more, as after a restart


def test_no_more_folders_are_read_than_are_needed(tmp_path: Path) -> None:
    create_folders(tmp_path, "1", "2", "3")
    seen: list[str] = []

    def read(path: Path) -> tuple[list[Attempt], Counter[str]]:
        seen.append(path.name)
        return one(path)

    Inbox(tmp_path, patience=0).take(2, read, anything)
    assert seen == ["1", "2"]


def test_a_folder_is_taken_whole(tmp_path: Path) -> None:
    create_folders(tmp_path, "1", "2")
    taken = Inbox(tmp_path, patience=0).take(3, lambda _: ([attempt("a"), attempt("b")], Counter()), anything)
    assert (len(taken.attempts), taken.folders) == (4, ("1", "2"))


def test_judged_rewards_are_a_bounded_share_and_the_others_wait(tmp_path: Path) -> None:
    create_folders(tmp_path, "1 judged", "2 judged", "3", "4 judged")

    def read(path: Path) -> tuple[list[Attempt], Counter[str]]:
        pair = [replace(attempt(f"{path.name} {place}"), judged="judged" in path.name) for place in "ab"]
        return (pair, Counter())

    inbox = Inbox(tmp_path, patience=0)
    taken = inbox.take(5, read, anything, most_judged=3)
    assert [one.id for one in taken.attempts] == ["1 judged a", "1 judged b", "2 judged a", "3 a", "3 b"]
    assert taken.refused == {OVER_SHARE: 1}
    inbox.mark_processed(taken.folders)
    assert waiting_folders(tmp_path) == ["4 judged"], "it waits for an update that has room for it"
    with pytest.raises(RolloutsMissing, match="2 have judged rewards and are more than may be"):
        inbox.take(1, read, anything, most_judged=0)


def test_what_cannot_be_used_is_left_out_or_set_aside(tmp_path: Path) -> None:
    create_folders(tmp_path, "1", "2", "3")

    def read(path: Path) -> tuple[list[Attempt], Counter[str]]:
        if path.name == "1":
            raise FolderDamaged("a picture is missing")
        return [attempt(f"{path.name}a"), attempt(f"{path.name}b")], Counter(["sample_too_long"])

    def check(attempt: Attempt) -> None:
        if attempt.id in ("2a", "2b", "3a"):
            raise AttemptStale("too old")

    taken = Inbox(tmp_path, patience=0).take(1, read, check)
    assert [one.id for one in taken.attempts] == ["3b"]
    assert taken.folders == ("3",)
    assert taken.refused == {"folder_damaged": 1, "attempt_stale": 3, "sample_too_long": 2}
    assert json.loads((tmp_path / REJECTED_FOLDER / "2" / REASONS_FILE).read_text()) == {
        "sample_too_long": 1,
        "attempt_stale": 2,
    }


def test_what_does_not_come_is_an_error(tmp_path: Path) -> None:
    create_folders(tmp_path, "1")
    with pytest.raises(RolloutsMissing, match="1 of 2"):
        Inbox(tmp_path, patience=0).take(2, one, anything)
    assert waiting_folders(tmp_path) == ["1"]


def test_who_plays_is_told_what_is_missing_until_it_is_there(tmp_path: Path) -> None:
    create_folders(tmp_path, "1", "2", "3")

    def check(attempt: Attempt) -> None:
        if attempt.id in "23":
            raise AttemptStale("too old")

    def told() -> AttemptShortage | None:
        try:
            return AttemptShortage.model_validate_json((tmp_path / SHORTAGE_FILE).read_bytes())
        except FileNotFoundError:
            return None

    with ThreadPoolExecutor() as beside:
        taking = beside.submit(Inbox(tmp_path, patience=60).take, 3, one, check)
        wait_until(told)
        assert told() == AttemptShortage(wanted=3, usable=1, folders=("1",), refused={"attempt_stale": 2})
        create_folders(tmp_path, "4")
        wait_until(lambda: (short := told()) is not None and short.folders == ("1", "4"))
        create_folders(tmp_path, "5")
        assert taking.result(60).folders == ("1", "4", "5")
    assert told() is None
    with pytest.raises(RolloutsMissing):
        Inbox(tmp_path, patience=0).take(9, one, anything)
    assert told() is None, "nobody waits any more"


def test_a_sibling_that_comes_late_waits_for_others_or_until_it_is_too_old(tmp_path: Path) -> None:
    create_folders(tmp_path, "a-0", "b-1")
    stale: set[str] = set()

    def read(path: Path) -> tuple[list[Attempt], Counter[str]]:
        return [replace(attempt(path.name), task=path.name[0])], Counter()

    def check(attempt: Attempt) -> None:
        if attempt.id in stale:
            raise AttemptStale("too old")

    inbox = Inbox(tmp_path, patience=0)
    with pytest.raises(RolloutsMissing, match=r"0 of 2 .* 2 have no other attempt at their task"):
        inbox.take(2, read, check, compared=())
    create_folders(tmp_path, "a-2")
    taken = inbox.take(2, read, check, compared=())
    assert (taken.folders, taken.refused) == (("a-0", "a-2"), {}), "what waits is not refused"
    inbox.mark_processed(taken.folders)
    create_folders(tmp_path, "a-3")
    assert inbox.take(1, read, check, compared={"a"}).folders == ("a-3",)
    stale.add("b-1")
    with pytest.raises(RolloutsMissing):
        inbox.take(2, read, check, compared={"a"})
    assert (tmp_path / REJECTED_FOLDER / "b-1").is_dir()


def test_the_shortage_names_what_waits_for_later(tmp_path: Path) -> None:
    create_folders(tmp_path, "1", "2", "3")

    def read(path: Path) -> tuple[list[Attempt], Counter[str]]:
        return [replace(attempt(path.name), task="a" if path.name == "2" else "b")], Counter()

    with ThreadPoolExecutor() as beside:
        taking = beside.submit(Inbox(tmp_path, patience=60).take, 3, read, anything, compared=())
        wait_until((tmp_path / SHORTAGE_FILE).exists)
        told = AttemptShortage.model_validate_json((tmp_path / SHORTAGE_FILE).read_bytes())
        assert (told.usable, told.folders, told.later) == (2, ("1", "3"), ("2",))
        assert told.refused == {ALONE: 1}
        create_folders(tmp_path, "4")
        assert taking.result(60).folders == ("1", "3", "4")
